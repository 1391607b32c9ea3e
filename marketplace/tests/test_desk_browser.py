"""The desk and the ten templates in a real Chromium: published, worked, back as CSV; axe."""

# `page` is a fixture of another module.
# ruff: noqa: F401, F811

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from marketplace import clock
from marketplace.accounts import RequesterKeys
from marketplace.batches.results import answers_in
from marketplace.events import post
from marketplace.models import HIT, Assignment, Requester
from marketplace.people.groups import make_group
from marketplace.people.importing import import_workers
from marketplace.requirements import ADULT
from marketplace.tests.browsing import EVERY_TEST, chromium, faults_at, page, sign_in
from marketplace.tests.desk import DeskVisitor, rows_in
from marketplace.tests.desk_rows import NOTIFICATION, asked_for
from marketplace.tests.test_batches import ROWS, TEMPLATES, project, published
from marketplace.tests.test_importing import PEOPLE
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
}
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
}


@pytest.fixture
def desk(rita_keys: RequesterKeys, settings: Any) -> DeskVisitor:
    """Rita's person at the desk, who writes no code."""
    settings.MARKETPLACE_OPEN_DESK = False
    return DeskVisitor("Rita", Requester.objects.get())


def test_ten_templates_are_worked_in_a_browser(desk: DeskVisitor, page: Any) -> None:
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
        assert {key: value for key, value in found.items() if value or key in expected} == expected
        assert (json.loads(task_answers) if task_answers else None) == TASK_ANSWERS.get(name)
        if name in TASK_ANSWERS:
            assert list(answers_in(Assignment.objects.latest("pk").answer)) == ["taskAnswers"]


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
        post(hit.requester_id, NOTIFICATION, {"EventType": "HITCreated"}, clock.now())
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
        page.get_by_role("button", name=re.compile("Open desk of Rita")).click()
    assert faulty == []


def test_a_preview_in_the_desk_submits_nothing(desk: DeskVisitor, page: Any, settings: Any) -> None:
    settings.MARKETPLACE_OPEN_DESK = True
    found = project(desk, TEMPLATES["crowd_choice"])
    page.goto("/desk/requesters/")
    page.get_by_role("button", name=re.compile("Open desk of Rita")).click()
    page.goto(f"/desk/projects/{found.pk}/")
    rows = {"name": "rows.csv", "mimeType": "text/csv", "buffer": b"question\nIs it?\n"}
    page.get_by_label("A CSV with one row for each HIT").set_input_files(rows)
    page.get_by_role("button", name="Look at the rows").click()
    frame = page.frame_locator("iframe.preview")
    frame.get_by_text("Is it?").wait_for()
    assert frame.get_by_role("button", name="Send it").is_disabled()
    page.get_by_role("button", name="Publish 1 HIT").click()
    page.get_by_text("All rows are published").wait_for()
