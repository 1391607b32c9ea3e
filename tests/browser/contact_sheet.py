"""Takes a picture of every page in every state: python -m tests.browser.contact_sheet OUT."""

import argparse
import html
import os
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests import services
from tests.browser.answer_page import AnswerPage, Given
from tests.browser.conftest import ARGUMENTS
from tests.browser.kept import ROWS
from tests.browser.person import Person
from tests.browser.phrase import phrase
from tests.browser.question_page import QuestionPage, plan
from tests.serving import Instance, serving

SIZES = {1366: 768, 768: 1024}
STATES = ("empty", "one item", "full", "error", "longest text")
MARKETPLACE = ("hits", "work", "history", "earnings", "qualifications", "messages", "preferences")
DESK = ("", "collections/", "collections/new/")
OF_COLLECTION = (
    "",
    "seeds/",
    "qualification/",
    "questions/",
    "money/",
    "problems/",
    "texts/",
    "texts/consent/",
    "releases/",
    "report/",
)
HEAD = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Every page</title>
<style>body{font:16px sans-serif;margin:2rem}figure{display:inline-block;margin:0 1rem 1rem 0;
vertical-align:top}img{border:1px solid #999;height:22rem;max-width:46rem;object-fit:cover;
object-position:top}figcaption{color:#555}</style><h1>Every page</h1>
"""


@dataclass(frozen=True)
class Picture:
    """One page in one state at one width."""

    page: str
    state: str
    width: int
    file: str


class Sheet:
    """The pictures taken so far, and where they are kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pictures: list[Picture] = []
        folder.mkdir(parents=True, exist_ok=True)

    def take(self, page: Page, name: str, state: str, *, whole: bool = True) -> None:
        """Take a page at every width; `whole` takes what is below the window too."""
        for width, height in SIZES.items():
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_timeout(150)
            file = re.sub(r"\W+", "-", f"{name} {state} {width}").strip("-").lower() + ".png"
            page.screenshot(path=self.folder / file, full_page=whole)
            self.pictures.append(Picture(name, state, width, file))
        page.set_viewport_size({"width": 1366, "height": 768})
        print(f"{name}: {state}", flush=True)

    def write(self) -> Path:
        """Write the index and return its path."""
        parts = [HEAD]
        for name in dict.fromkeys(picture.page for picture in self.pictures):
            parts.append(f"<h2>{html.escape(name)}</h2>")
            shown = [picture for picture in self.pictures if picture.page == name]
            for each in sorted(shown, key=lambda picture: STATES.index(picture.state)):
                parts.append(
                    f'<figure><a href="{each.file}"><img src="{each.file}" alt="" loading="lazy">'
                    f"</a><figcaption>{each.state}, {each.width} px</figcaption></figure>"
                )
        index = self.folder / "index.html"
        index.write_text("\n".join(parts), "utf-8")
        return index


def take_marketplace(sheet: Sheet, person: Person, state: str) -> None:
    """Take the marketplace's pages as a worker finds them."""
    for path in MARKETPLACE:
        person.page.goto(person.at(f"{path}/"))
        sheet.take(person.page, f"marketplace: {path}", state)


def take_desk(sheet: Sheet, rita: Page, state: str, slug: str = "") -> None:
    """Take the requester's pages, those of one collection too if it is given."""
    for path in DESK:
        rita.goto(f"/{path}")
        sheet.take(rita, f"desk: {path.strip('/') or 'start'}", state)
    for path in OF_COLLECTION if slug else ():
        rita.goto(f"/collections/{slug}/{path}")
        sheet.take(rita, f"desk: {path.strip('/') or 'overview'}", state)
        inner = rita.locator(f"main a[href^='/collections/{slug}/{path}']:not([href*='?'])")
        if path in ("questions/", "releases/") and inner.count():
            inner.first.click()
            sheet.take(rita, f"desk: one of {path.strip('/')}", state)


def take_questions(sheet: Sheet, person: Person) -> None:
    """Take the way of a question HIT: consent, instructions, nothing, one, all, refused."""
    name = "question page"
    person.wait_for_hit("Practice: ten questions")
    person.page.get_by_role("link", name="Preview Practice: ten questions").click()
    person.frame.wait_for_selector("[data-page=preview]")
    sheet.take(person.page, "preview of a HIT", "one item", whole=False)
    person.accept("Practice: ten questions")
    person.frame.wait_for_selector("[data-page=consent]")
    sheet.take(person.page, "consent", "one item", whole=False)
    person.frame.click("[data-action=agree]")
    person.frame.wait_for_selector("[data-dialog=instructions][open]")
    sheet.take(person.page, "instructions", "one item", whole=False)
    frame = person.ready()
    sheet.take(person.page, name, "empty", whole=False)
    page = QuestionPage(person)
    questions = plan(list(page.items.values()), 10, 2)
    for number, question in enumerate(questions):
        page.write(question)
        if number == 0:
            sheet.take(person.page, name, "one item", whole=False)
        if number == 1:
            person.click("[data-action=submit]")
            frame.wait_for_selector("[data-problems]:not([hidden])")
            sheet.take(person.page, name, "error", whole=False)
            person.click("[data-action=close-problems]")
        if number < 9:
            page.next()
    sheet.take(person.page, name, "full", whole=False)
    page.submit()
    person.expect_receipt()
    sheet.take(person.page, "marketplace: receipt", "one item")


def take_answers(sheet: Sheet, person: Person) -> None:
    """Take the way of an answer HIT: nothing, an article open, each type, refused, all."""
    name = "answer page"
    frame = person.begin("Practice: ten answers")
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
        person.click(f".card[data-type={kind}]")
        sheet.take(person.page, f"{name}: {kind}", "one item", whole=False)
    for _ in items[5:]:
        page.next()
        person.click(".card[data-type=none]")
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


def take_refusals(sheet: Sheet, instance: Instance, person: Person, rita: Page) -> None:
    """Take what people see when something is not as it should be."""
    person.accept("Single: one question")
    person.frame.click("[data-action=decline]")
    person.frame.wait_for_selector("[data-page=notice]")
    sheet.take(person.page, "notice: declined", "error", whole=False)
    for name, query in (("unknown HIT", "hitId=NONE"), ("no HIT at all", "")):
        person.page.goto(f"{instance.collector_url}/hit/?{query}")
        sheet.take(person.page, f"notice: {name}", "error")
    person.page.goto(person.at("hits/NONE/"))
    sheet.take(person.page, "marketplace: no such HIT", "error")
    rita.goto("/collections/none/")
    sheet.take(rita, "desk: no such page", "error")
    rita.goto("/collections/new/")
    rita.locator("main form button.primary").click()
    sheet.take(rita, "desk: collections/new", "error")


def take_everything(
    sheet: Sheet, instance: Instance, browser: Browser, *, with_sample: bool
) -> None:
    """Go through all pages, from an empty instance to one with a finished release."""
    rita = browser.new_context(base_url=instance.collector_url).new_page()

    def enter(name: str) -> Person:
        person = Person(name, instance, browser.new_context())
        person.page.goto(person.at(""))
        person.sign_in()
        return person

    door = browser.new_context().new_page()
    door.goto(instance.marketplace_url)
    sheet.take(door, "marketplace: sign in", "empty")
    take_marketplace(sheet, enter("Nobody yet"), "empty")
    take_desk(sheet, rita, "empty")
    instance.call(f"{ROWS}:read_sample")
    instance.call(f"{ROWS}:open_practice")
    ada, grace = enter("Ada"), enter("Grace")
    take_desk(sheet, rita, "one item", "single")
    steps: list[Callable[[], None]] = [
        lambda: take_questions(sheet, ada),
        lambda: take_answers(sheet, grace),
        lambda: take_longest(sheet, instance, enter("Hannah")),
        lambda: take_refusals(sheet, instance, enter("Mallory"), rita),
        lambda: take_marketplace(sheet, ada, "one item"),
    ]
    for step in steps:
        step()
    if with_sample:
        instance.call("collector.sample:prepare_sample")
        take_desk(sheet, rita, "full", "demo-iirc")
        take_marketplace(sheet, grace, "full")


def main() -> int:
    """Take the pictures and print where the index is."""
    parser = argparse.ArgumentParser(prog="contact_sheet", description=__doc__)
    parser.add_argument("out", type=Path, metavar="OUT", help="folder for the pictures")
    parser.add_argument(
        "--quick", action="store_true", help="without the sample's finished collection"
    )
    chosen = parser.parse_args()
    sheet = Sheet(chosen.out)
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
