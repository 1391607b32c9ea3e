"""Decisions on work, through the API."""

from datetime import timedelta
from typing import Any

import pytest

from marketplace import clock
from marketplace.hits.acceptance import submit
from marketplace.models import Assignment, Requester
from marketplace.tests.refusals import refused
from marketplace.tests.visitor import Visitor


def handed_in(client: Any, hit: dict[str, Any]) -> dict[str, Any]:
    [assignment] = client.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    return assignment


def test_work_in_progress_is_said_to_be_unfinished(
    rita: Any, other_requester: Any, ada: Visitor, make_hit: Any
) -> None:
    hit = make_hit(rita)
    frame = ada.accept(hit)
    which = {"AssignmentId": frame.query["assignmentId"]}
    with refused("InvalidAssignmentState", "with a status of: Submitted,Approved,Rejected ("):
        rita.get_assignment(**which)
    with refused("InvalidAssignmentState", "with a status of: Submitted ("):
        rita.approve_assignment(**which)
    with refused("AssignmentDoesNotExist"):
        other_requester.get_assignment(**which)
    assert rita.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"] == []
    ada.post(frame.path, f"{frame.path}return/")
    with refused("AssignmentDoesNotExist"):
        rita.get_assignment(**which)


def test_work_is_decided_once(rita: Any, ada: Visitor, make_hit: Any) -> None:
    hit = make_hit(rita)
    ada.submit(hit)
    one = handed_in(rita, hit)["AssignmentId"]
    rita.approve_assignment(AssignmentId=one)
    with refused("InvalidAssignmentState", "with a status of: Submitted"):
        rita.approve_assignment(AssignmentId=one)
    with refused("InvalidAssignmentState"):
        rita.reject_assignment(AssignmentId=one, RequesterFeedback="Late thought.")
    found = rita.get_assignment(AssignmentId=one)
    assert found["Assignment"]["AssignmentStatus"] == "Approved"
    assert found["HIT"]["NumberOfAssignmentsCompleted"] == 1
    assert Requester.objects.get(name="Rita").balance_cents == 1_000_000 - 450


def test_a_rejection_can_be_overridden_for_thirty_days(
    rita: Any, ada: Visitor, grace: Visitor, make_hit: Any, later: Any
) -> None:
    hit = make_hit(rita, MaxAssignments=2)
    ada.submit(hit)
    grace.submit(hit)
    first, second = (
        one["AssignmentId"]
        for one in rita.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    )
    for one in (first, second):
        rita.reject_assignment(AssignmentId=one, RequesterFeedback="No question in it.")
    assert "No question in it." in ada.get("/history/").content.decode()
    assert rita.get_account_balance()["AvailableBalance"] == "10000.00"
    with refused("InvalidAssignmentState"):
        rita.approve_assignment(AssignmentId=first)
    rita.approve_assignment(AssignmentId=first, OverrideRejection=True)
    assert rita.get_account_balance()["AvailableBalance"] == "9995.50"
    later(days=31)
    with refused("InvalidAssignmentState", "30 days"):
        rita.approve_assignment(AssignmentId=second, OverrideRejection=True)


def test_who_is_rejected_without_a_reason_is_told_so(
    rita: Any, ada: Visitor, make_hit: Any
) -> None:
    hit = make_hit(rita)
    ada.submit(hit)
    rita.reject_assignment(AssignmentId=handed_in(rita, hit)["AssignmentId"], RequesterFeedback=" ")
    one = handed_in(rita, hit)
    assert one["AssignmentStatus"] == "Rejected"
    assert "RequesterFeedback" not in one
    told = ada.get("/history/").content.decode()
    assert "No reason was given." in told
    assert "Contest it" in told


def test_a_rejected_place_is_not_given_out_again(rita: Any, ada: Visitor, make_hit: Any) -> None:
    hit = make_hit(rita)
    ada.submit(hit)
    one = handed_in(rita, hit)["AssignmentId"]
    rita.reject_assignment(AssignmentId=one, RequesterFeedback="Empty.")
    assert rita.get_hit(HITId=hit["HITId"])["HIT"]["NumberOfAssignmentsAvailable"] == 0


def test_a_reason_may_not_be_endless(rita: Any, ada: Visitor, make_hit: Any) -> None:
    hit = make_hit(rita)
    ada.submit(hit)
    one = handed_in(rita, hit)["AssignmentId"]
    with refused("InvalidParameterValue"):
        rita.reject_assignment(AssignmentId=one, RequesterFeedback="x" * 1025)


def test_nobody_decides_on_another_requester_s_work(
    rita: Any, other_requester: Any, ada: Visitor, make_hit: Any
) -> None:
    hit = make_hit(rita)
    ada.submit(hit)
    one = handed_in(rita, hit)["AssignmentId"]
    for call in (other_requester.get_assignment, other_requester.approve_assignment):
        with refused("AssignmentDoesNotExist"):
            call(AssignmentId=one)


def test_lists_are_filtered_and_paged_in_the_order_work_came(
    rita: Any, ada: Visitor, grace: Visitor, mallory: Visitor, make_hit: Any
) -> None:
    hit = make_hit(rita, MaxAssignments=3)
    frame = ada.accept(hit)
    grace.submit(hit)
    mallory.submit(hit)
    first = rita.list_assignments_for_hit(HITId=hit["HITId"], MaxResults=1)
    frame.submit(a="1")
    rest = rita.list_assignments_for_hit(HITId=hit["HITId"], NextToken=first["NextToken"])
    found = [one["WorkerId"] for one in first["Assignments"] + rest["Assignments"]]
    assert found == [visitor.worker.worker_id for visitor in (grace, mallory, ada)]
    rita.approve_assignment(AssignmentId=first["Assignments"][0]["AssignmentId"])
    approved = rita.list_assignments_for_hit(
        HITId=hit["HITId"], AssignmentStatuses=["Approved", "Rejected"]
    )
    assert approved["NumResults"] == 1


@pytest.mark.parametrize("seconds", [0, 2])
def test_work_that_waited_for_its_place_in_line_comes_after_what_was_listed_meanwhile(
    rita: Any, ada: Visitor, grace: Visitor, make_hit: Any, seconds: int
) -> None:
    hit = make_hit(rita, MaxAssignments=2)
    for visitor in (ada, grace):
        visitor.accept(hit)
    slow, quick = Assignment.objects.order_by("pk")
    came_at = clock.now()
    submit(quick, "<answer/>", came_at + timedelta(seconds=seconds))
    first = rita.list_assignments_for_hit(HITId=hit["HITId"], MaxResults=1)
    submit(slow, "<answer/>", came_at)
    rest = rita.list_assignments_for_hit(HITId=hit["HITId"], NextToken=first["NextToken"])
    found = [one["WorkerId"] for one in first["Assignments"] + rest["Assignments"]]
    assert found == [visitor.worker.worker_id for visitor in (grace, ada)]
