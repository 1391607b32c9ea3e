"""The pages whose fields are data of a protocol, from elsewhere: texts by mouse, labels by key."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser import EVERY_TEST
from tests.browser.axe_violations import faults
from tests.browser.conftest import Enter
from tests.browser.person import Person
from tests.browser.row_assertions import ROWS
from tests.browser.task_bar import expect_one_bar, expect_room_to_read
from tests.serving import Instance

WRITE = "Write headlines for two paragraphs"
JUDGE = "Judge four headlines"

pytestmark = EVERY_TEST


@pytest.fixture(scope="module")
def lines(instance: Instance) -> Iterator[Instance]:
    """Return the instance with a collection of the small protocol open."""
    chosen = ("--protocol", "headline", "--corpus", "quarnsey", "--budget", "20")
    instance.run("create_collection", "lines", *chosen)
    instance.run("select_seeds", "lines", "--count", "2")
    instance.run("publish", "lines")
    yield instance
    instance.call(f"{ROWS}:put_away", "lines")


def write(person: Person) -> None:
    """Write two headlines, after an empty submission has been refused."""
    frame = person.begin(WRITE)
    expect_one_bar(person)
    expect_room_to_read(person)
    person.click("[data-action=submit]")
    problems = frame.wait_for_selector("[data-problems]:not([hidden])")
    assert problems
    lines = [line.inner_text().split("\n") for line in problems.query_selector_all("li p")]
    assert lines == [["Item 1", "Item 2"], ["Write the headline."]]
    person.click("[data-problem='1']")
    expect(frame.locator("[data-panel-title]")).to_have_text("Item 2 of 2")
    person.type(f"{person.name}: the second")
    person.click("[data-action=previous]")
    frame.fill("#field-headline", f"{person.name}: the first.")
    expect(frame.locator("[data-message=hint]")).to_have_text("Does a headline end with a dot?")
    person.expect_progress("2 of 2 done")
    assert faults(person.page, frame) == []
    person.click("[data-action=submit]")
    person.expect_receipt()


def test_texts_are_written_and_labelled_in_the_browser(lines: Instance, enter: Enter) -> None:
    for name in ("Ada", "Grace"):
        write(enter(name))
    edith = enter("Edith")
    frame = edith.begin(JUDGE)
    given = [item["text"] for item in edith.state()["items"]]
    assert "Ada: the first." in given
    frame.focus("body")
    for key in ("1", "]", "2", "]", "3", "]", "1"):
        edith.key(key)
    edith.expect_progress("4 of 4 done")
    edith.key("Control+z")
    edith.expect_progress("3 of 4 done")
    edith.key("3", "w")
    edith.type("It is about another place.")
    edith.wait_until_saved()
    edith.page.reload()
    frame = edith.ready()
    edith.expect_progress("4 of 4 done")
    assert frame.input_value("#field-remark") == "It is about another place."
    expect(frame.locator("[data-given]")).to_have_text(given[3])
    assert faults(edith.page, frame) == []
    edith.click("[data-action=submit]")
    edith.expect_receipt()
    labels = ("faithful", "exaggerated", "wrong", "wrong")
    assert lines.call("tests.page_workers:votes", "lines") == [
        {"text": text, "label": label, "remark": "It is about another place." * (number == 3)}
        for number, (text, label) in enumerate(zip(given, labels, strict=True))
    ]
    assert edith.mistakes == []


def test_a_preview_shows_the_instructions_alone(lines: Instance, enter: Enter) -> None:
    ida = enter("Ida")
    if ida.page.get_by_role("button", name=f"Accept {WRITE}").count():
        # Run by itself: there is nothing to judge yet.
        for name in ("Hanna", "Jon"):
            write(enter(name))
    ida.wait_for_hit(JUDGE)
    ida.page.get_by_role("link", name=f"Preview {JUDGE}").click()
    frame = ida.frame
    frame.wait_for_selector("[data-page=preview]")
    assert "Is the headline true to its paragraph?" in frame.inner_text("main")
    assert "Ada" not in frame.content()
    assert ida.mistakes == []
