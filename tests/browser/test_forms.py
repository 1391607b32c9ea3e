"""The pages whose fields are data of a protocol, from elsewhere: texts by mouse, labels by key."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser import EVERY_TEST
from tests.browser.axe_violations import faults
from tests.browser.conftest import Enter
from tests.browser.measures import measure
from tests.browser.person import Person
from tests.browser.row_assertions import ROWS
from tests.browser.task_bar import PHONE, expect_one_bar, expect_room_to_read
from tests.browser.test_layout import A_TEXT, OF_FORM, SCREENS, assert_calm, open_at
from tests.serving import Instance

FOLDER = Path(__file__).resolve().parents[2] / "annotation/protocols"
SCHEME = max(FOLDER.glob("*/labels/*.toml"), key=lambda path: path.stat().st_size)
WRITE_TITLES, SORT = "Write titles for two paragraphs", "Sort four titles"
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


@pytest.fixture(scope="module")
def sorted_lines(instance: Instance) -> Iterator[Instance]:
    """Return the instance with one of two facets, each of nine labels in groups."""
    fields = tomllib.loads(SCHEME.read_text("utf-8"))["fields"]
    # What the small protocol checks is called so.
    for field, name in zip(fields, ("label", "answer_unit", "remark"), strict=True):
        field["name"] = name
    changes = {"text.title": WRITE_TITLES, "label.title": SORT, "label.fields": fields}
    chosen = [f"--set={name}={as_toml(value)}" for name, value in changes.items()]
    chosen += ["--protocol", "headline", "--corpus", "quarnsey", "--budget", "20"]
    instance.run("create_collection", "sorted", *chosen)
    instance.run("select_seeds", "sorted", "--count", "2")
    instance.run("publish", "sorted")
    yield instance
    instance.call(f"{ROWS}:put_away", "sorted")


def as_toml(value: Any) -> str:
    """Return a value as it is written in TOML, on one line."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name} = {as_toml(each)}' for name, each in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(as_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)


def write(person: Person, title: str = WRITE) -> None:
    """Write two headlines, after an empty submission has been refused."""
    frame = person.begin(title)
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
    remark = "#field-remark"
    before, said = frame.locator(remark).bounding_box(), frame.input_value(remark)
    frame.fill(remark, f"{said} " * 8)
    after = frame.locator(remark).bounding_box()
    assert before
    assert after
    assert after["height"] > before["height"]
    assert frame.locator(remark).evaluate("one => one.scrollHeight <= one.clientHeight")
    # Its own place at the right is a scrollbar's, so that nothing beside it stays uncovered.
    assert frame.evaluate("getComputedStyle(document.documentElement).overflowY") == "scroll"
    frame.fill(remark, said)
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


def test_two_facets_of_nine_labels_take_three_keys_an_item(
    sorted_lines: Instance, enter: Enter
) -> None:
    for name in ("Ada", "Grace"):
        write(enter(name), WRITE_TITLES)
    edith = enter("Edith")
    edith.begin(SORT)
    look_at_labels(edith)
    frame = edith.frame
    first, unit = (frame.locator(f"[data-field={name}]") for name in ("label", "answer_unit"))
    expect(frame.locator("[data-running]")).to_have_text("0 of 4 labelled by you")
    expect(first.locator(".card")).to_have_count(9)
    expect(first.locator(".choice-group")).to_have_text(
        ["Concept", "Event argument", "Event relation", "Global"]
    )
    edith.click("[data-given]")

    # What they mean is one key away, and away again.
    expect(first.locator(".card-hint").first).to_be_hidden()
    edith.key("d")
    expect(first.locator(".card-hint").first).to_be_visible()
    expect(first.locator(".choice-rule")).to_be_visible()
    assert faults(edith.page, frame) == []
    edith.key("d")
    expect(first.locator(".card-example").first).to_be_hidden()

    before = edith.actions
    expect(first).to_have_class(re.compile("is-next"))
    edith.key("6")
    expect(unit).to_have_class(re.compile("is-next"))
    edith.key("4", "n")
    assert edith.actions - before == 3
    expect(frame.locator("[data-panel-title]")).to_have_text("Item 2 of 4")
    expect(frame.locator("[data-running]")).to_have_text("1 of 4 labelled by you")
    for keys in ("15n", "29n", "97"):
        edith.key(*keys)
    expect(frame.locator("[data-running]")).to_have_text("4 of 4 labelled by you")
    edith.key("Control+z", "8", "w")
    edith.type("It could be a number.")
    edith.click("[data-action=submit]")
    edith.expect_receipt()

    assert edith.mistakes == []
    assert sorted_votes(sorted_lines) == [
        ("causal", "expression", ""),
        ("concept relation", "event name", ""),
        ("concept attribute", "book attribute", ""),
        ("book attribute", "description", "It could be a number."),
    ]


def look_at_labels(person: Person) -> None:
    """Check that both facets with all their labels are in sight with the text, on both screens."""
    in_sight = ["[data-running]", "[data-given]", ".choices .card", *OF_FORM]
    for screen in reversed(SCREENS):
        frame = open_at(person, screen)
        expect_one_bar(person)
        assert len(measure(frame, "boxes", ".choices .card")) == 18
        assert measure(frame, "outOfSight", in_sight) == []
    assert_calm(person, frame, A_TEXT)
    expect_room_to_read(person)
    for screen in ((768, 1024), PHONE):
        frame = open_at(person, screen)
        assert measure(frame, "outOfSight", ["[data-given]"]) == []
        [given] = measure(frame, "boxes", "[data-given]")
        labels, [text] = measure(frame, "boxes", ".choices .card"), measure(frame, "boxes", A_TEXT)
        assert given["bottom"] <= labels[0]["top"]
        assert labels[-1]["bottom"] <= text["top"]
        assert labels[0]["bottom"] <= screen[1] / 2
    open_at(person, SCREENS[0])


def sorted_votes(instance: Instance) -> list[tuple[str, str, str]]:
    """Return both labels of each vote, and the note."""
    kept = instance.call("tests.page_workers:votes", "sorted")
    return [(vote["label"], vote["answer_unit"], vote["remark"] or "") for vote in kept]


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
