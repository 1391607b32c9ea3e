"""A rejection is contested: answered, overridden, or approved when nobody answers."""

from typing import Any

import pytest

from marketplace import clock, funds
from marketplace.hits.acceptance import (
    ContestError,
    grant_contest,
    keep_rejection,
    raise_contest,
    unanswered_contests,
)
from marketplace.models import Assignment, AssignmentState, Contest, Requester
from marketplace.tests.desk import DeskVisitor
from marketplace.tests.visitor import Visitor

WHY = "Five of ten need a link."


@pytest.fixture
def rejected(rita: Any, ada: Visitor, make_hit: Any) -> Assignment:
    """Ada's rejected work."""
    ada.submit(make_hit(rita))
    assignment = Assignment.objects.get()
    rita.reject_assignment(
        AssignmentId=assignment.assignment_id, RequesterFeedback="No links at all."
    )
    return Assignment.objects.get()


def contest(visitor: Visitor, assignment: Assignment, text: str = WHY) -> str:
    page = f"/work/{assignment.pk}/submitted/"
    response = visitor.post(page, f"/work/{assignment.pk}/contest/", text=text)
    return response.content.decode()


def test_an_unanswered_contest_approves_after_seven_days(
    rita: Any, ada: Visitor, rejected: Assignment, later: Any
) -> None:
    page = contest(ada, rejected)
    assert WHY in page
    assert "Without an answer your work is approved then" in page
    later(days=6, hours=23)
    assert "Rejected" in ada.get("/history/").content.decode()
    later(hours=2)
    assert "Your work was approved." in ada.get(f"/work/{rejected.pk}/submitted/").content.decode()
    listed = rita.list_assignments_for_hit(HITId=rejected.hit.hit_id)["Assignments"]
    assert [one["AssignmentStatus"] for one in listed] == ["Approved"]
    assert funds.owed_cents(ada.worker) == 450
    requester = Requester.objects.get(name="Rita")
    assert (requester.balance_cents, requester.held_cents) == (1_000_000 - 450, 0)


def test_it_approves_even_when_the_hit_is_deleted(
    rita: Any, ada: Visitor, rejected: Assignment, later: Any
) -> None:
    contest(ada, rejected)
    rita.delete_hit(HITId=rejected.hit.hit_id)
    later(days=8)
    ada.get("/earnings/")
    assert funds.owed_cents(ada.worker) == 450


def test_without_money_it_waits_for_credit(
    rita: Any, ada: Visitor, rejected: Assignment, later: Any
) -> None:
    contest(ada, rejected)
    rows = Requester.objects.filter(name="Rita")
    rows.update(balance_cents=0)
    later(days=8)
    assert ada.get("/history/").status_code == 200
    assert Assignment.objects.get().state == AssignmentState.REJECTED
    rows.update(balance_cents=450)
    later(days=1, hours=1)
    ada.get("/history/")
    assert Assignment.objects.get().state == AssignmentState.APPROVED


def test_a_kept_rejection_stays_and_the_worker_reads_why(
    ada: Visitor, rejected: Assignment, later: Any
) -> None:
    contest(ada, rejected)
    [row] = unanswered_contests(rejected.hit.requester)
    with pytest.raises(ContestError):
        keep_rejection(row, "  ", clock.now())
    keep_rejection(row, "None of them does.", clock.now())
    with pytest.raises(ContestError, match="settled"):
        keep_rejection(row, "Again.", clock.now())
    assert not unanswered_contests().exists()
    later(days=8)
    page = ada.get(f"/work/{rejected.pk}/submitted/").content.decode()
    assert "None of them does." in page
    assert Assignment.objects.get().state == AssignmentState.REJECTED


def test_the_requester_grants_it_whatever_became_of_the_hit(
    rita: Any, ada: Visitor, rejected: Assignment, later: Any, settings: Any
) -> None:
    settings.MARKETPLACE_OPEN_DESK = False
    later(days=29)
    contest(ada, rejected)
    rita.delete_hit(HITId=rejected.hit.hit_id)
    later(days=3)  # past the days in which the API overrides a rejection
    desk = DeskVisitor("Rita", Requester.objects.get(name="Rita"))
    assert "1<span" in desk.html("/desk/projects/")
    path = f"/desk/contests/{Contest.objects.get().pk}/"
    page = desk.post("/desk/letters/", path, approve="1").content.decode()
    assert "The work is approved and will be paid." in page
    assert "to answer" not in page
    assert funds.owed_cents(ada.worker) == 450
    with pytest.raises(ContestError, match="settled"):
        grant_contest(Contest.objects.get(), clock.now())


def test_an_override_settles_it(rita: Any, ada: Visitor, rejected: Assignment, later: Any) -> None:
    contest(ada, rejected)
    rita.approve_assignment(AssignmentId=rejected.assignment_id, OverrideRejection=True)
    assert not unanswered_contests().exists()
    later(days=8)
    ada.get("/history/")
    assert funds.owed_cents(ada.worker) == 450


def test_it_is_raised_once_by_the_worker_alone_and_in_time(
    ada: Visitor, grace: Visitor, rejected: Assignment, later: Any
) -> None:
    path = f"/work/{rejected.pk}/contest/"
    assert grace.send(path, text=WHY).status_code == 404
    empty = ada.send(path, text=" ")
    assert empty.status_code == 400
    long = ada.send(path, text="x" * 2001)
    assert long.status_code == 400
    assert b"x" * 2001 in long.content
    first = raise_contest(rejected, WHY, clock.now())
    assert raise_contest(rejected, "More.", clock.now()) == first
    Contest.objects.all().delete()
    later(days=31)
    ada = Visitor("Ada")
    assert "within 30 days" in ada.get(f"/work/{rejected.pk}/submitted/").content.decode()
    assert ada.send(path, text=WHY).status_code == 400


def test_only_a_rejection_is_contested(rita: Any, ada: Visitor, make_hit: Any) -> None:
    frame = ada.submit(make_hit(rita))
    page = ada.send(f"{frame.path}contest/", text=WHY).content.decode()
    assert "Only rejected work" in page
    assert not Contest.objects.exists()
