"""Takes a picture of every page in every state: python -m tests.browser.contact_sheet OUT."""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests import services
from tests.browser import desk_sheet, live_sheet, market_sheet
from tests.browser.answer_page import AnswerPage, Given
from tests.browser.conftest import ARGUMENTS
from tests.browser.desk_sheet import take_desk
from tests.browser.person import Person
from tests.browser.phrase import phrase
from tests.browser.question_page import QuestionPage, plan
from tests.browser.row_assertions import ROWS
from tests.browser.sheet import SIZES, Choice, Sheet
from tests.serving import Instance, serving

MARKETPLACE = ("hits", "work", "history", "earnings", "qualifications", "messages", "preferences")
OF_WORK = ("preview of a HIT", "consent", "instructions", "question page", "answer page", "notice")


def take_marketplace(sheet: Sheet, person: Person, state: str) -> None:
    """Take the marketplace's pages as a worker finds them."""
    for path in MARKETPLACE:
        person.page.goto(person.at(f"{path}/"))
        sheet.take(person.page, f"marketplace: {path}", state)


def take_questions(sheet: Sheet, person: Person) -> None:
    """Take the way of a question HIT: consent, instructions, nothing, one, all, refused."""
    name = "question page"
    person.wait_for_hit("Practice: five questions")
    person.page.get_by_role("link", name="Preview Practice: five questions").click()
    person.frame.wait_for_selector("[data-page=preview]")
    sheet.take(person.page, "preview of a HIT", "one item", whole=False)
    person.accept("Practice: five questions")
    person.frame.wait_for_selector("[data-page=consent]")
    sheet.take(person.page, "consent", "one item", whole=False)
    person.frame.click("[data-action=agree]")
    person.frame.wait_for_selector("[data-dialog=instructions][open]")
    sheet.take(person.page, "instructions", "one item", whole=False)
    frame = person.ready()
    sheet.take(person.page, name, "empty", whole=False)
    page = QuestionPage(person)
    questions = plan(list(page.items.values()), 5, 2)
    for number, question in enumerate(questions):
        page.write(question)
        if number == 0:
            sheet.take(person.page, name, "one item", whole=False)
        if number == 1:
            person.click("[data-action=submit]")
            frame.wait_for_selector("[data-problems]:not([hidden])")
            sheet.take(person.page, name, "error", whole=False)
            person.click("[data-action=close-problems]")
        if number < 4:
            page.next()
    sheet.take(person.page, name, "full", whole=False)
    page.submit()
    person.expect_receipt()
    sheet.take(person.page, "marketplace: receipt", "one item")


def take_answers(sheet: Sheet, person: Person) -> None:
    """Take the way of an answer HIT: nothing, an article open, each type, refused, all."""
    name = "answer page"
    frame = person.begin("Practice: five answers")
    sheet.take(person.page, name, "empty", whole=False)
    page = AnswerPage(person)
    items = person.state()["items"]
    title, passage = items[0]["writer_links"][0], items[0]["passage"]["text"]
    text = page.open_article(title)
    proof = (phrase(text, 4, 3, title), phrase(passage, 2, 2))
    page.give(Given("span", spans=(phrase(text, 1, 2, title),), evidence=proof[:1]))
    page.search(text.split(" ")[1])
    sheet.take(person.page, f"{name}: an article", "one item", whole=False)
    page.mark("context", proof[1])
    sheet.take(person.page, name, "one item", whole=False)
    person.click("[data-action=submit]")
    frame.wait_for_selector("[data-problems]:not([hidden])")
    sheet.take(person.page, name, "error", whole=False)
    person.click("[data-action=close-problems]")
    for kind in ("value", "binary", "bad", "none"):
        page.next()
        page.choose(kind)
        sheet.take(person.page, f"{name}: {kind}", "one item", whole=False)
    for _ in items[5:]:
        page.next()
        page.choose("none")
    sheet.take(person.page, name, "full", whole=False)


def take_longest(sheet: Sheet, instance: Instance, person: Person) -> None:
    """Take the question page with a long paragraph: one of real data where it is given."""
    data = os.environ.get("COLLECTOR_DATA", "")
    path = Path(data) / "wiki" / "minidumps" / "de.xml.bz2"
    title = "Single: one question"
    if data and path.exists():
        title = "Single: a long paragraph"
        instance.call(f"{ROWS}:read_dump", str(path), "de", "CC BY-SA 4.0", "de")
        instance.call(f"{ROWS}:open_single", "long", "de", title, 1, 1200, 3500, 2)
    person.begin(title)
    sheet.take(person.page, "question page", "longest text", whole=False)


def take_refusals(sheet: Sheet, instance: Instance, person: Person) -> None:
    """Take what workers see when something is not as it should be."""
    person.accept("Single: one question")
    person.frame.click("[data-action=decline]")
    person.frame.wait_for_selector("[data-page=notice]")
    sheet.take(person.page, "notice: declined", "error", whole=False)
    for name, query in (("unknown HIT", "hitId=NONE"), ("no HIT at all", "")):
        person.page.goto(f"{instance.collector_url}/hit/?{query}")
        sheet.take(person.page, f"notice: {name}", "error")
    person.page.goto(person.at("hits/NONE/"))
    sheet.take(person.page, "marketplace: no such HIT", "error")


def take_everything(
    sheet: Sheet, instance: Instance, browser: Browser, *, with_sample: bool
) -> None:
    """Go through all pages that are chosen, from an empty instance to finished releases."""
    rita = browser.new_context(base_url=instance.collector_url).new_page()

    def enter(name: str) -> Person:
        person = Person(name, instance, browser.new_context())
        person.page.goto(person.at(""))
        person.sign_in()
        return person

    if sheet.wants("marketplace"):
        door = browser.new_context().new_page()
        door.goto(instance.marketplace_url)
        sheet.take(door, "marketplace: sign in", "empty")
        take_marketplace(sheet, enter("Nobody yet"), "empty")
    if sheet.wants("desk"):
        take_desk(sheet, rita, "empty")
    take_work(sheet, instance, rita, enter)
    if sheet.wants("candidate sets"):
        desk_sheet.take_sets(sheet, instance, rita)
    if sheet.wants("dialog", "partner reports"):
        live_sheet.take_dialogs(sheet, instance, enter)
        desk_sheet.take_partners(sheet, rita, "talks")
    if sheet.wants("validation page"):
        live_sheet.take_validation(sheet, instance, enter("Nessa"))
    if sheet.wants("pairs page"):
        live_sheet.take_pairs(sheet, instance, enter("Petra"), enter("Agnes"))
    if sheet.wants("story page"):
        live_sheet.take_stories(sheet, instance, rita, enter("Stella"), enter("Sybil"))
    if sheet.wants("market desk"):
        market_sheet.take_market_desk(sheet, instance, rita)
    if with_sample:
        take_sample(sheet, instance, rita)


def take_work(sheet: Sheet, instance: Instance, rita: Page, enter: Callable[[str], Person]) -> None:
    """Take the HITs of questions and answers, and what both sites show of them."""
    if sheet.wants(*OF_WORK, "marketplace", "desk"):
        instance.call(f"{ROWS}:read_sample")
        instance.call(f"{ROWS}:open_practice")
    if sheet.wants("desk"):
        take_desk(sheet, rita, "one item", "single")
        desk_sheet.take_refusals(sheet, rita, "single")
    if not sheet.wants(*OF_WORK, "marketplace"):
        return
    ada = enter("Ada")
    take_questions(sheet, ada)
    take_answers(sheet, enter("Grace"))
    take_longest(sheet, instance, enter("Hannah"))
    take_refusals(sheet, instance, enter("Mallory"))
    take_marketplace(sheet, ada, "one item")


def take_sample(sheet: Sheet, instance: Instance, rita: Page) -> None:
    """Take the requester's pages of finished collections, and of long words."""
    if sheet.wants("difficulty"):
        desk_sheet.take_difficulty(sheet, instance, rita)
    if sheet.wants("desk"):
        instance.call("collector.serving.sample:prepare_sample")
        take_desk(sheet, rita, "full", "demo-iirc")
        instance.call(f"{ROWS}:open_decisions", "demo-iirc")
        desk_sheet.take_decisions(sheet, rita, "full", "demo-iirc")
        desk_sheet.take_wordy(sheet, instance, rita)


def main() -> int:
    """Take the pictures and print where the index is."""
    parser = argparse.ArgumentParser(prog="contact_sheet", description=__doc__)
    parser.add_argument("out", type=Path, metavar="OUT", help="folder for the pictures")
    parser.add_argument(
        "--quick", action="store_true", help="without the sample's finished collection"
    )
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="WORDS", help='names hold them: "desk: money"'
    )
    parser.add_argument("--widths", nargs="+", type=int, choices=SIZES, default=[1366, 768])
    parser.add_argument("--schemes", nargs="+", choices=("light", "dark"), default=["light"])
    chosen = parser.parse_args()
    sheet = Sheet(chosen.out, Choice(chosen.only, chosen.widths, chosen.schemes))
    path = os.environ.get("COLLECTOR_CHROMIUM") or services.chromium()
    with (
        tempfile.TemporaryDirectory() as home,
        serving(Path(home)) as instance,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            take_everything(sheet, instance, browser, with_sample=not chosen.quick)
        finally:
            print(sheet.write())
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
