"""Templates and CSVs become HITs, answers come back as a CSV, decisions go up in it."""

import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.utils.html import escape

from marketplace import clock
from marketplace.configuration import choose
from marketplace.desk import batches
from marketplace.desk.batches import publish_some
from marketplace.models import (
    HIT,
    Assignment,
    AssignmentState,
    AuditEntry,
    Batch,
    BatchRow,
    Project,
    Requester,
)
from marketplace.people.accounts import RequesterKeys
from marketplace.people.grants import add_members, make_group
from marketplace.tests.desk import DeskVisitor, csv_upload, rows_in, text_with
from marketplace.tests.refusals import refused
from marketplace.tests.visitor import Visitor

TEMPLATES = {
    path.stem: path.read_text() for path in (Path(__file__).parent / "templates").iterdir()
}
PICTURE = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='400' height='200'/>"
# One row for each template, and what a worker fills in.
ROWS = {
    "radio": {"sentence": "What a lovely mess <you> made & left!"},
    "checkbox": {"description": "A kettle stands by the window."},
    "text": {"sentence": "The committee adjourned sine die."},
    "image": {"image_url": "https://pictures.example/7.png?w=240&h=160"},
    "plain_form": {"german": "Der Hafen ist leer.", "english": "The port is empty."},
    "crowd_text": {"paragraph": "The mill was built by Ida in 1803."},
    "crowd_choice": {"question": "A mill can stand on a river."},
    "crowd_classify": {"sentence": "You <left> & never wrote.", "image_url": PICTURE},
    "crowd_mark": {"sentence": "🦉 Jo Miller left Ulm.", "image_url": PICTURE},
    "crowd_alone": {"sentence": "Ida sailed to Rhodes."},
    "search": {"museum": "the Museum of Mills", "town": "Millford"},
    "table": {"text": "Long.", "first": "L.", "second": "Lo."},
    "numbers": {"receipt": "R-17", "text": "4.50 on 3 May 2026"},
}
TERMS = {
    "title": "A task",
    "description": "What to do.",
    "keywords": "reading",
    "reward": "0.50",
    "max_assignments": "2",
    "minutes": "30",
    "lifetime_days": "7",
    "approval_days": "3",
}


@pytest.fixture
def desk(rita_keys: RequesterKeys, settings: Any) -> DeskVisitor:
    """Rita's person at the desk, who writes no code."""
    settings.MARKETPLACE_OPEN_DESK = False
    return DeskVisitor("Rita", Requester.objects.get())


def project(desk: DeskVisitor, html: str, name: str = "Mine", **changes: str) -> Project:
    path = "/desk/projects/new/template/"
    page = desk.post(path, path, name=name, html=html, **TERMS | changes)
    assert page.status_code == 200, page.content.decode()
    return Project.objects.get(name=name)


def draft(desk: DeskVisitor, found: Project, rows: list[dict[str, str]]) -> Batch:
    path = f"/desk/projects/{found.pk}/"
    page = desk.upload(path, f"{path}rows/", text_with(rows))
    assert page.status_code == 200, page.content.decode()
    return Batch.objects.latest("pk")


def published(desk: DeskVisitor, found: Project, rows: list[dict[str, str]]) -> Batch:
    batch = draft(desk, found, rows)
    page = desk.post(f"/desk/batches/{batch.pk}/", f"/desk/batches/{batch.pk}/publish/")
    assert "All rows are published" in page.content.decode()
    return Batch.objects.get(pk=batch.pk)


def test_a_project_asks_for_no_more_days_than_the_host_leaves(desk: DeskVisitor) -> None:
    path = "/desk/projects/new/template/"
    given = {"name": "Mine", "html": '<input name="a">', **TERMS, "approval_days": "6"}
    page = desk.post(path, path, **given)
    assert page.status_code == 400
    assert "leaves 5 days at most" in page.content.decode()
    choose("auto_approval_cap_seconds", 30 * 24 * 3600, clock.now())
    desk.post(path, path, **given)
    assert Project.objects.get().auto_approval_delay_seconds == 6 * 24 * 3600


def test_a_project_that_is_kept_as_it_was_is_no_change(desk: DeskVisitor) -> None:
    found = project(desk, '<input name="a">')
    path = f"/desk/projects/{found.pk}/"
    for _ in range(2):
        desk.post(path, path, name="Mine", html='<input name="b">', **TERMS)
    assert AuditEntry.objects.filter(what="Changed the project Mine").count() == 1


def test_rows_sent_twice_are_one_batch_and_a_mended_file_is_another(desk: DeskVisitor) -> None:
    found = project(desk, '${a}<input name="b">')
    path = f"/desk/projects/{found.pk}/"
    page = desk.html(path)
    for text in ("a\n1\n", "a\n1\n", "a\n2\n"):
        desk.send(page, f"{path}rows/", file=csv_upload(text))
    inputs = BatchRow.objects.order_by("batch").values_list("inputs", flat=True)
    assert list(inputs) == [{"a": "1"}, {"a": "2"}]
    assert AuditEntry.objects.filter(what__startswith="Added a batch").count() == 2


def test_workers_see_a_cell_that_begins_with_an_apostrophe_as_it_was_written(
    desk: DeskVisitor,
) -> None:
    found = project(desk, '${year}<input name="b">')
    made = draft(desk, found, [{"year": "'-20 and '+1"}])
    assert made.rows.get().inputs == {"year": "'-20 and '+1"}
    assert "&#x27;-20 and" in desk.html(f"/desk/batches/{made.pk}/rows/1/")


def test_there_are_templates_of_each_kind() -> None:
    assert set(TEMPLATES) == set(ROWS)
    assert len(TEMPLATES) == 13


@pytest.mark.parametrize("name", sorted(ROWS))
def test_each_template_is_published_worked_and_comes_back(
    name: str, desk: DeskVisitor, ada: Visitor
) -> None:
    batch = published(desk, project(desk, TEMPLATES[name]), [ROWS[name]])
    hit = HIT.objects.get()
    assert (hit.max_assignments, hit.hit_type.reward_cents) == (2, 50)
    frame = ada.accept({"HITId": hit.hit_id})
    page = ada.client.get(frame.url.removeprefix("http://127.0.0.1")).content.decode()
    for value in ROWS[name].values():
        assert escape(value) in page
    assert "${" not in page
    assert frame.submit(answer="Plums, and “more”").status_code == 200
    [line] = rows_in(desk.get(f"/desk/batches/{batch.pk}/results.csv"))
    assert {key: line[f"Input.{key}"] for key in ROWS[name]} == ROWS[name]
    assert line["Answer.answer"] == "Plums, and “more”"
    assert (line["AssignmentStatus"], line["Reward"], line["Approve"]) == ("Submitted", "$0.50", "")
    assert (line["HITId"], line["WorkerId"]) == (hit.hit_id, ada.worker.worker_id)


def test_the_preview_is_what_a_worker_gets(desk: DeskVisitor) -> None:
    batch = draft(desk, project(desk, TEMPLATES["radio"]), [ROWS["radio"], {"sentence": "Two"}])
    page = desk.get(f"/desk/batches/{batch.pk}/?row=2")
    assert f'src="/desk/batches/{batch.pk}/rows/2/"' in page.content.decode()
    assert "frame-src 'self'" in page["Content-Security-Policy"]
    frame = desk.client.get(f"/desk/batches/{batch.pk}/rows/1/")
    assert escape(ROWS["radio"]["sentence"]) in frame.content.decode()
    assert "sandbox allow-scripts" in frame["Content-Security-Policy"]
    assert "allow-same-origin" not in frame["Content-Security-Policy"]
    assert not HIT.objects.exists()


def test_a_reward_that_was_raised_after_the_page_was_shown_is_shown_before_it_is_bound(
    desk: DeskVisitor,
) -> None:
    found = project(desk, TEMPLATES["radio"])
    batch = draft(desk, found, [ROWS["radio"]])
    path, action = f"/desk/batches/{batch.pk}/", f"/desk/batches/{batch.pk}/publish/"
    before = desk.html(path)
    project_page = f"/desk/projects/{found.pk}/"
    changes = {"name": "Mine", "html": TEMPLATES["radio"], **TERMS, "reward": "5.00"}
    assert desk.post(project_page, project_page, **changes).status_code == 200
    [asked] = re.findall(r'name="cost" value="(\d+)"', before)
    for cost in (asked, "", "much"):
        refused_page = desk.send(before, action, cost=cost)
        assert refused_page.status_code == 400
        html = refused_page.content.decode()
        assert "changed meanwhile" in html
    assert "$10.00" in html
    assert not HIT.objects.exists()
    [asked] = re.findall(r'name="cost" value="(\d+)"', html)
    assert desk.send(html, action, cost=asked).status_code == 200
    assert HIT.objects.get().hit_type.reward_cents == 500


@pytest.mark.parametrize("changed", ["title", "mapping"])
def test_a_batch_that_changes_while_it_is_published_is_shown_again(
    desk: DeskVisitor, monkeypatch: Any, changed: str
) -> None:
    found = project(desk, TEMPLATES["radio"])
    batch = draft(desk, found, [ROWS["radio"]])
    path, action = f"/desk/batches/{batch.pk}/", f"/desk/batches/{batch.pk}/publish/"
    check_before = batches.check_before

    def changed_meanwhile(read: Batch) -> None:
        check_before(read)
        if changed == "mapping":
            Batch.objects.update(mapping={})
            return
        found.title = "Another task"
        found.save()
        batches.refresh_drafts(found)

    with monkeypatch.context() as patch:
        patch.setattr(batches, "check_before", changed_meanwhile)
        page = desk.post(path, action)
    assert page.status_code == 400
    assert "changed meanwhile" in page.content.decode()
    assert not HIT.objects.exists()
    Batch.objects.update(mapping=batch.mapping)
    assert desk.post(path, action).status_code == 200
    assert HIT.objects.get().hit_type.title == found.title


def test_a_batch_that_is_published_while_its_project_changes_keeps_its_terms(
    desk: DeskVisitor, monkeypatch: Any
) -> None:
    found = project(desk, TEMPLATES["radio"])
    batch = draft(desk, found, [ROWS["radio"]])
    same_names = batches.same_names

    def published_meanwhile(wanted: list[str], columns: list[str]) -> dict[str, str]:
        batches.begin(batch, clock.now(), batches.cost_cents(batch))
        return same_names(wanted, columns)

    monkeypatch.setattr(batches, "same_names", published_meanwhile)
    path = f"/desk/projects/{found.pk}/"
    changes = {"name": "Mine", "html": TEMPLATES["radio"], **TERMS, "reward": "5.00"}
    assert desk.post(path, path, **changes).status_code == 200
    batch.refresh_from_db()
    assert batch.published_at is not None
    assert batch.terms["reward_cents"] == 50


def test_columns_of_other_names_are_mapped(desk: DeskVisitor) -> None:
    found = project(desk, TEMPLATES["search"])
    batch = draft(desk, found, [{"Museum": "of Mills", "place": "Millford"}])
    path = f"/desk/batches/{batch.pk}/"
    assert batch.mapping == {"museum": "Museum"}
    refused = desk.post(path, f"{path}publish/")
    assert "Choose the column for ${town} first" in refused.content.decode()
    desk.post(path, path, **{"column-museum": "Museum", "column-town": "place"})
    assert "in Millford" in desk.html(f"{path}rows/1/")
    desk.post(path, path, **{"column-museum": "none", "column-town": "place"})
    assert Batch.objects.get().mapping == {"town": "place"}


def test_values_are_text_unless_they_are_said_to_be_html(desk: DeskVisitor) -> None:
    found = project(desk, '<p>${x}</p><input name="a">')
    batch = draft(desk, found, [{"x": "<b>5</b>"}])
    assert "&lt;b&gt;5" in desk.html(f"/desk/batches/{batch.pk}/rows/1/")
    path = f"/desk/projects/{found.pk}/"
    fields = {"name": "Mine", "html": found.html, "values_are_html": "on"}
    desk.post(path, path, **TERMS | fields)
    assert "<b>5</b>" in desk.html(f"/desk/batches/{batch.pk}/rows/1/")


def test_what_a_template_cannot_do_is_named(desk: DeskVisitor) -> None:
    found = project(desk, '<crowd-form><crowd-line name="p"></crowd-line></crowd-form>')
    html = desk.html(f"/desk/projects/{found.pk}/")
    assert "&lt;crowd-line&gt; is not drawn here" in html
    assert "No field has a name" in html


def test_no_row_is_published_that_cannot_be_paid(desk: DeskVisitor) -> None:
    batch = draft(desk, project(desk, TEMPLATES["text"], reward="4000"), [ROWS["text"]] * 2)
    path = f"/desk/batches/{batch.pk}/"
    page = desk.post(path, f"{path}publish/")
    assert page.status_code == 400
    assert "This costs $16,000.00 and the account has $10,000.00 free" in page.content.decode()
    assert (HIT.objects.count(), Batch.objects.get().published_at) == (0, None)


def test_a_batch_that_was_cut_off_goes_on_where_it_was(desk: DeskVisitor, monkeypatch: Any) -> None:
    batch = draft(desk, project(desk, TEMPLATES["text"]), [ROWS["text"]] * 3)
    path = f"/desk/batches/{batch.pk}/"
    at_once = partial(publish_some, seconds=0)
    monkeypatch.setattr("marketplace.desk.work_views.publish_some", at_once)
    page = desk.post(path, f"{path}publish/")
    assert "1 of 3 rows are published" in page.content.decode()
    monkeypatch.undo()
    desk.post(path, f"{path}publish/")
    desk.client.post(f"{path}publish/")
    assert HIT.objects.count() == BatchRow.objects.exclude(hit=None).count() == 3
    assert HIT.objects.values("hit_type").distinct().count() == 1


def test_a_group_s_members_alone_see_the_hits(
    desk: DeskVisitor, ada: Visitor, grace: Visitor
) -> None:
    row = make_group("Panel", "", clock.now()).qualification_type
    found = project(desk, TEMPLATES["text"], groups=row.qualification_type_id)
    batch = draft(desk, found, [ROWS["text"]])
    path = f"/desk/batches/{batch.pk}/"
    assert "nobody can work on it" in desk.html(path)
    add_members(row, [ada.worker], clock.now())
    assert "1 of 2 workers" in desk.html(path)
    desk.post(path, f"{path}publish/")
    assert "A task" in ada.get("/hits/").content.decode()
    assert "A task" not in grace.get("/hits/").content.decode()


def test_decisions_come_back_in_the_results(
    desk: DeskVisitor, ada: Visitor, grace: Visitor
) -> None:
    batch = published(desk, project(desk, TEMPLATES["text"]), [ROWS["text"]])
    hit = {"HITId": HIT.objects.get().hit_id}
    ada.submit(hit, simple="Good")
    grace.submit(hit, simple="Bad")
    path = f"/desk/batches/{batch.pk}/"
    rows = rows_in(desk.get(f"{path}results.csv"))
    rows[0]["Approve"], rows[1]["Reject"] = "x", "It says nothing."
    page = desk.upload(path, f"{path}decisions/", text_with(rows)).content.decode()
    assert "approves 1 and rejects 1" in " ".join(page.split())
    assert Assignment.objects.filter(state=AssignmentState.SUBMITTED).count() == 2
    carried = text_with(
        [{key: row[key] for key in ("AssignmentId", "Approve", "Reject")} for row in rows]
    )
    for _ in range(2):
        page = desk.send(page, f"{path}decisions/", carried=carried, apply="1").content.decode()
    assert "2 as they were" in page
    states = dict(Assignment.objects.values_list("worker__display_name", "state"))
    assert states == {"Ada": AssignmentState.APPROVED, "Grace": AssignmentState.REJECTED}
    assert "It says nothing." in grace.get("/history/").content.decode()
    rows[1] |= {"Reject": "", "Approve": "It was my mistake."}
    desk.send(page, f"{path}decisions/", carried=text_with(rows), apply="1")
    assert Assignment.objects.filter(state=AssignmentState.APPROVED).count() == 2
    decided = AuditEntry.objects.filter(what__startswith="Decided").order_by("pk")
    assert [one.what.partition(": ")[2] for one in decided] == [
        "1 approved, 1 rejected",
        "1 approved, 0 rejected",
    ]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"Approve": "x", "Reject": "why"}, "Both Approve and Reject are filled"),
        ({"Reject": "x"}, "Write in Reject why the work is rejected"),
        ({"AssignmentId": "3OTHERS", "Approve": "x"}, "There is no assignment 3OTHERS of yours"),
        ({"Reject": "y" * 1025}, "longer than 1024 characters"),
    ],
)
def test_a_decision_that_cannot_be_says_why(
    changes: dict[str, str], sentence: str, desk: DeskVisitor, ada: Visitor
) -> None:
    batch = published(desk, project(desk, TEMPLATES["text"]), [ROWS["text"]])
    ada.submit({"HITId": HIT.objects.get().hit_id})
    path = f"/desk/batches/{batch.pk}/"
    [row] = rows_in(desk.get(f"{path}results.csv"))
    text = text_with([row | changes])
    page = desk.upload(path, f"{path}decisions/", text, apply="1")
    assert sentence in page.content.decode()
    assert Assignment.objects.get().state == AssignmentState.SUBMITTED


def test_a_survey_s_code_approves(desk: DeskVisitor, ada: Visitor, grace: Visitor) -> None:
    path = "/desk/projects/new/link/"
    fields = {"survey_url": "https://survey.example/f?id=1", "completion_code": "PLUM-42"}
    desk.post(path, path, name="Feelings", **TERMS | fields | {"max_assignments": "3"})
    found = Project.objects.get()
    desk.post(f"/desk/projects/{found.pk}/", f"/desk/projects/{found.pk}/rows/")
    path = f"/desk/batches/{Batch.objects.get().pk}/"
    assert "https://survey.example/f?id=1" in desk.html(f"{path}rows/1/")
    desk.post(path, f"{path}publish/")
    hit = {"HITId": HIT.objects.get().hit_id}
    ada.submit(hit, surveycode=" plum-42")
    grace.submit(hit, surveycode="PEAR-1")
    assert "1 undecided with the right code" in desk.html(path)
    desk.post(path, f"{path}codes/")
    states = dict(Assignment.objects.values_list("worker__display_name", "state"))
    assert states == {"Ada": AssignmentState.APPROVED, "Grace": AssignmentState.SUBMITTED}
    desk.post(path, f"{path}stop/")
    assert not HIT.objects.get().is_assignable(clock.now())


def test_a_row_that_cannot_be_published_is_named_before_any_is(desk: DeskVisitor) -> None:
    rows = [{"sentence": "One"}, {"sentence": "long " * 15_000}, {"sentence": "Three"}]
    batch = draft(desk, project(desk, TEMPLATES["radio"]), rows)
    page = desk.post(f"/desk/batches/{batch.pk}/", f"/desk/batches/{batch.pk}/publish/")
    assert "Row 2 cannot be published, so none was." in page.content.decode()
    assert not HIT.objects.exists()
    assert Batch.objects.get().published_at is None


def test_what_a_word_processor_leaves_behind_is_dropped(desk: DeskVisitor) -> None:
    batch = published(desk, project(desk, TEMPLATES["radio"]), [{"sentence": "One\x0btwo \x02."}])
    assert batch.rows.get().hit is not None
    assert "Onetwo ." in HIT.objects.get().question


def test_a_project_is_a_layout_that_programs_fill(
    desk: DeskVisitor, rita: Any, other_requester: Any, ada: Visitor
) -> None:
    found = project(desk, TEMPLATES["radio"])
    assert found.layout_id in desk.html(f"/desk/projects/{found.pk}/")
    kind = rita.create_hit_type(
        Title="t", Description="d", Reward="0.50", AssignmentDurationInSeconds=600
    )["HITTypeId"]
    told = {"HITTypeId": kind, "LifetimeInSeconds": 3600, "HITLayoutId": found.layout_id}
    said = [{"Name": "sentence", "Value": "Is 1 < 2?"}]
    hit = rita.create_hit_with_hit_type(**told, HITLayoutParameters=said)["HIT"]
    assert "Is 1 &lt; 2?" in hit["Question"]
    assert "${" not in hit["Question"]
    ada.submit(hit, feeling="annoyed")
    for wrong in ([], said * 2, [*said, {"Name": "other", "Value": "x"}]):
        with refused("InvalidParameterValue"):
            rita.create_hit_with_hit_type(**told, HITLayoutParameters=wrong)
    with refused("InvalidParameterValue"):
        rita.create_hit_with_hit_type(**told, HITLayoutParameters=said, Question="<x/>")
    with refused("HITLayoutDoesNotExist"):
        rita.create_hit_with_hit_type(**told | {"HITLayoutId": "LAYOUT0"})
    theirs = other_requester.create_hit_type(
        Title="t", Description="d", Reward="0.50", AssignmentDurationInSeconds=600
    )["HITTypeId"]
    with refused("HITLayoutDoesNotExist"):
        other_requester.create_hit_with_hit_type(
            **told | {"HITTypeId": theirs}, HITLayoutParameters=said
        )
