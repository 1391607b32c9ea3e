"""The desk and its templates in a real Chromium: published, worked, back as CSV; axe."""

# `page` is a fixture of another module.
# ruff: noqa: F401, F811

import json
import re
from collections.abc import Callable
from html import escape
from typing import Any

import pytest

from marketplace import clock
from marketplace.models import HIT, Assignment, Requester
from marketplace.notifications.events import post_event
from marketplace.people.accounts import RequesterKeys
from marketplace.people.grants import make_group
from marketplace.people.requirements import ADULT
from marketplace.people.worker_import import import_workers
from marketplace.questions.answers import answers_in
from marketplace.tests.browsing import EVERY_TEST, chromium, faults_at, page, sign_in
from marketplace.tests.desk import DeskVisitor, rows_in
from marketplace.tests.desk_rows import NOTIFICATION, asked_for
from marketplace.tests.test_batches import ROWS, TEMPLATES, project, published
from marketplace.tests.test_html_question import question
from marketplace.tests.test_worker_import import PEOPLE
from marketplace.tests.visitor import Visitor

pytestmark = EVERY_TEST


def choose_crowd(frame: Any) -> None:
    frame.get_by_label("It is false").check()
    frame.get_by_label("It is true").check()
    frame.get_by_label("I looked it up").check()
    frame.get_by_label("On the web").check()
    frame.get_by_label("How sure are you?").fill("8")
    frame.get_by_role("button", name="Send it").click()


def write_crowd(frame: Any) -> None:
    frame.get_by_text("How to ask").click()
    frame.get_by_text("Who built the mill?").wait_for()
    frame.get_by_label("Your question").fill("Who built the mill?")
    frame.get_by_label("Its answer").fill("Ida")
    frame.get_by_role("button", name="Submit").click()


def tick(frame: Any) -> None:
    frame.get_by_label("A kettle").check()
    frame.get_by_label("A window").check()
    frame.get_by_role("button", name="Submit").click()


def compare(frame: Any) -> None:
    frame.get_by_label("Easier: second").check()
    frame.get_by_label("Fuller: first").check()
    frame.get_by_role("button", name="Done").click()


def classify(frame: Any) -> None:
    frame.get_by_role("button", name="Submit").click()
    frame.get_by_label("It's a complaint").check()
    frame.get_by_role("button", name="Submit").click()
    # What is still to be answered has shown itself.
    frame.get_by_label("Cat").check()
    frame.get_by_label("None of them").check()
    frame.get_by_label("Dog").check()
    frame.get_by_label("Night").check()
    frame.get_by_label("It is rude").check()
    frame.get_by_role("button", name="Dismiss").click()
    frame.get_by_role("button", name="Why we ask").click()
    frame.get_by_role("button", name="Close").click()
    frame.get_by_role("button", name="Submit").click()


def drag(frame: Any, tool: str, *places: tuple[float, float], is_box: bool = False) -> None:
    """Click these places of the tool's image, or drag from the first to the last."""
    stage = frame.locator(f"{tool} .crowd-stage")
    stage.scroll_into_view_if_needed()
    box, mouse = stage.bounding_box(), frame.owner.page.mouse
    at = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in places]
    if not is_box:
        for place in at:
            mouse.click(*place)
        return
    mouse.move(*at[0])
    mouse.down()
    mouse.move(*at[-1], steps=3)
    mouse.up()


def mark(frame: Any) -> None:
    keys = frame.owner.page.keyboard
    frame.get_by_role("group", name="Text").focus()
    for key in ("ArrowRight", "ArrowRight", "Shift+ArrowRight", "Enter"):
        keys.press(key)
    frame.get_by_label("place").check()
    frame.get_by_text("Ulm", exact=False).first.evaluate(
        """board => {
            const last = document.createTreeWalker(board, NodeFilter.SHOW_TEXT);
            while (last.nextNode());
            const at = last.currentNode.data.indexOf("Ulm");
            getSelection().setBaseAndExtent(last.currentNode, at, last.currentNode, at + 3);
            board.dispatchEvent(new PointerEvent("pointerup", {bubbles: true}));
        }"""
    )
    frame.locator("crowd-entity-annotation li").nth(1).wait_for()
    drag(frame, "crowd-bounding-box", (0.75, 0.5), (0.25, 0.25), is_box=True)
    # The same without a pointer: by numbers.
    tool = frame.locator("crowd-bounding-box")
    tool.get_by_role("radio", name="Buoy").check()
    tool.get_by_role("button", name="Add a box").press("Enter")
    for number in ("10", "20", "30", "40"):
        keys.press("ControlOrMeta+A")
        keys.type(number)
        keys.press("Tab")
    drag(frame, "crowd-keypoint", (0.5, 0.25))
    drag(frame, "crowd-polygon", (0.25, 0.5), (0.5, 0.5))
    frame.get_by_role("button", name="Submit").click()
    drag(frame, "crowd-polygon", (0.5, 0.75))
    frame.get_by_role("button", name="Finish the shape").click()
    frame.get_by_role("button", name="Submit").click()
    # An empty answer has to be meant.
    frame.locator("crowd-polyline").get_by_label("There is nothing to mark.").check()
    frame.get_by_role("button", name="Submit").click()


def mark_alone(frame: Any) -> None:
    frame.get_by_role("group", name="Text").focus()
    for key in ("ArrowLeft", *["ArrowRight"] * 3, "Enter"):
        frame.owner.page.keyboard.press(key)
    frame.get_by_role("button", name="Submit").click()


def filling(button: str = "Submit", **fields: str) -> Callable[[Any], None]:
    def fill(frame: Any) -> None:
        for label, value in fields.items():
            field = frame.locator(f'[name="{label}"]').first
            kind = field.evaluate("one => one.type")
            if kind == "radio":
                frame.locator(f'[name="{label}"][value="{value}"]').check()
            elif kind == "select-one":
                field.select_option(value)
            else:
                field.fill(value)
        frame.get_by_role("button", name=button).click()

    return fill


ADULTS = {"QualificationTypeId": ADULT, "Comparator": "EqualTo", "IntegerValues": [1]}
# Template -> how a worker fills it in, and what comes back.
WORK: dict[str, tuple[Callable[[Any], None], dict[str, str]]] = {
    "radio": (filling(feeling="annoyed"), {"feeling": "annoyed"}),
    "checkbox": (tick, {"things": "kettle|window"}),
    "text": (filling(simple="They went home. 🦉"), {"simple": "They went home. 🦉", "word": ""}),
    "image": (filling(kind="harbour", caption="Boats"), {"kind": "harbour", "caption": "Boats"}),
    "plain_form": (filling("Hand in", right="no"), {"right": "no", "better": ""}),
    "search": (filling(page="https://mills.example/"), {"page": "https://mills.example/"}),
    "table": (compare, {"easier": "second", "fuller": "first"}),
    "numbers": (
        filling(total="4.50", day="2026-05-03"),
        {"receipt": "R-17", "total": "4.50", "day": "2026-05-03"},
    ),
    "crowd_text": (
        write_crowd,
        {"question": "Who built the mill?", "answer": "Ida", "sure.yes": "false"},
    ),
    "crowd_choice": (
        choose_crowd,
        {"true": "true", "looked_up": "yes", "sure": "8", "where": "web"},
    ),
    "crowd_classify": (classify, {"rude": "yes"}),
    "crowd_mark": (mark, {}),
    "crowd_alone": (mark_alone, {}),
}
SIZE = {"height": 200, "width": 400}
# What a crowd-form hands in as its one answer, unless its answers are to be flattened.
TASK_ANSWERS = {
    "crowd_choice": [
        {
            "true": {"true": True},
            "false": {"false": False},
            "looked_up": {"yes": True},
            "where": {"book": False, "web": True},
            "sources": {"more": False},
            "sure": 8,
        }
    ],
    "crowd_classify": [
        {
            "intent": {"label": "It's a complaint"},
            "animals": {"labels": ["Dog"]},
            "crowd-image-classifier": {"label": "Night"},
            "rude": {"yes": True},
        }
    ],
    "crowd_mark": [
        {
            "who": {
                "entities": [
                    {"endOffset": 11, "label": "person", "startOffset": 2},
                    {"endOffset": 20, "label": "place", "startOffset": 17},
                ]
            },
            "boxes": {
                "boundingBoxes": [
                    {"height": 50, "label": "Boat", "left": 100, "top": 50, "width": 200},
                    {"height": 40, "label": "Buoy", "left": 10, "top": 20, "width": 30},
                ],
                "inputImageProperties": SIZE,
            },
            "points": {
                "keypoints": [{"label": "Mast", "x": 200, "y": 50}],
                "inputImageProperties": SIZE,
            },
            "shapes": {
                "polygons": [
                    {
                        "label": "Sail",
                        "vertices": [
                            {"x": 100, "y": 100},
                            {"x": 200, "y": 100},
                            {"x": 200, "y": 150},
                        ],
                    }
                ],
                "inputImageProperties": SIZE,
            },
            "lines": {"polylines": [], "inputImageProperties": SIZE},
        }
    ],
    "crowd_alone": [
        {
            "crowd-entity-annotation": {
                "entities": [{"endOffset": 20, "label": "place", "startOffset": 14}]
            }
        }
    ],
}


@pytest.fixture
def desk(rita_keys: RequesterKeys, settings: Any) -> DeskVisitor:
    """Rita's person at the desk, who writes no code."""
    settings.MARKETPLACE_OPEN_DESK = False
    return DeskVisitor("Rita", Requester.objects.get())


def test_templates_are_worked_in_a_browser(desk: DeskVisitor, page: Any) -> None:
    assert set(WORK) == set(TEMPLATES)
    batches = {
        name: published(desk, project(desk, TEMPLATES[name], name), [ROWS[name]]) for name in WORK
    }
    sign_in(page)
    for name, (fill, expected) in WORK.items():
        hit_id = HIT.objects.get(batch_row__batch=batches[name]).hit_id
        page.goto(f"/hits/{hit_id}/")
        page.get_by_role("button", name="Accept").first.click()
        page.wait_for_url("**/work/*/")
        frame = page.frame_locator("#task")
        fill(frame)
        page.wait_for_url("**/submitted/")
        [line] = rows_in(desk.get(f"/desk/batches/{batches[name].pk}/results.csv"))
        found = {
            key.removeprefix("Answer."): value
            for key, value in line.items()
            if key.startswith("Answer.")
        }
        task_answers = found.pop("taskAnswers", None)
        # Objects are compared whole, below.
        plain = {key for key, value in found.items() if value and "{" not in value}
        assert {key: found[key] for key in found if key in plain | set(expected)} == expected
        assert (json.loads(task_answers) if task_answers else None) == TASK_ANSWERS.get(name)
        if name in TASK_ANSWERS:
            assert list(answers_in(Assignment.objects.latest("pk").answer)) == ["taskAnswers"]


def test_what_is_drawn_in_a_frame_passes_axe(rita: Any, make_hit: Any, page: Any) -> None:
    sign_in(page)
    faulty = []
    for name in ("crowd_alone", "crowd_classify", "crowd_mark", "crowd_choice", "crowd_text"):
        html = TEMPLATES[name]
        for key, value in ROWS[name].items():
            html = html.replace(f"${{{key}}}", escape(value))
        title = "<!DOCTYPE html><html lang='en'><head><title>T</title></head><body><main>"
        hit = make_hit(rita, Question=question(f"{title}{html}</main></body></html>"))
        page.goto(f"/hits/{hit['HITId']}/question/?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE")
        assert page.get_by_role("button", name=re.compile("^(Submit|Send it)$")).is_disabled()
        if name == "crowd_mark":
            for words in ("Add a box", "Add a point", "Add a shape"):
                page.get_by_role("button", name=words).first.click()
        faulty += faults_at(page, light=1366, dark=390)
    assert faulty == []


def test_the_desk_s_pages_pass_axe_and_never_scroll_sideways(
    desk: DeskVisitor,
    rita: Any,
    make_hit: Any,
    ada: Visitor,
    page: Any,
    settings: Any,
) -> None:
    settings.MARKETPLACE_OPEN_DESK = True
    for shown in (make_hit(rita), make_hit(rita, QualificationRequirements=[ADULTS])):
        hit = HIT.objects.get(hit_id=shown["HITId"])
        post_event(hit.requester_id, NOTIFICATION, {"EventType": "HITCreated"}, clock.now())
    import_workers(PEOPLE, clock.now(), is_dry=False)
    group = make_group("Panel", "", clock.now())
    found = published(desk, project(desk, TEMPLATES["radio"]), [ROWS["radio"]])
    host = ["requesters", "workers", "workers/import", "groups", f"groups/{group.pk}", "audit"]
    host += ["invitations", "payouts", "settings", "password"]
    own = ["projects", "projects/new/template", "projects/new/link", "team", "letters"]
    own += ["hits", f"hits/{hit.pk}", "events", "account"]
    own += [f"projects/{found.project_id}", f"batches/{found.pk}"]
    worked = HIT.objects.get(batch_row__batch=found)
    ada.submit({"HITId": worked.hit_id}, feeling="annoyed")
    asked_for(hit.requester, ada.worker)
    own += ["asked", f"hits/{worked.pk}/bonuses"]
    faulty = []
    for paths in (host, own):
        for path in paths:
            page.goto(f"/desk/{path}/")
            faulty += faults_at(page, light=1366, dark=768)
        page.goto("/desk/requesters/")
        page.get_by_role("button", name=re.compile("Act for it *: Rita")).click()
    assert faulty == []


def test_a_preview_in_the_desk_submits_nothing(desk: DeskVisitor, page: Any, settings: Any) -> None:
    settings.MARKETPLACE_OPEN_DESK = True
    found = project(desk, TEMPLATES["crowd_choice"])
    page.goto("/desk/requesters/")
    page.get_by_role("button", name=re.compile("Act for it *: Rita")).click()
    page.goto(f"/desk/projects/{found.pk}/")
    rows = {"name": "rows.csv", "mimeType": "text/csv", "buffer": b"question\nIs it?\n"}
    page.get_by_label("A CSV with one row for each HIT").set_input_files(rows)
    page.get_by_role("button", name="Look at the rows").click()
    frame = page.frame_locator("iframe.preview")
    frame.get_by_text("Is it?").wait_for()
    assert frame.get_by_role("button", name="Send it").is_disabled()
    page.get_by_role("button", name="Publish 1 HIT").click()
    page.get_by_text("All rows are published").wait_for()
