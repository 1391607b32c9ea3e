"""ListAssignmentsForHIT, GetAssignment, ApproveAssignment and RejectAssignment."""

from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import NullIf

from common.prepared_sql import PreparedQuery
from marketplace.hits.lifecycle import approve, refresh, reject
from marketplace.models import Assignment, AssignmentState
from marketplace.operations.hits import Epoch
from marketplace.operations.ownership import (
    handed_in,
    own_assignment,
    refuse_disposed,
    settle_own,
)
from marketplace.operations.posted_hits import FIRST, one_hit
from marketplace.wire.calls import (
    FOREIGN_TOKEN,
    Call,
    InvalidParameter,
    RequestError,
    operation,
    page_asked,
    token_after,
)

OVERRIDE_WITHIN = timedelta(days=30)
LONGEST_FEEDBACK = 1024
ASSIGNMENT_STATUS: dict[str, str] = {
    AssignmentState.SUBMITTED: "Submitted",
    AssignmentState.APPROVED: "Approved",
    AssignmentState.REJECTED: "Rejected",
}
# The members of the model's Assignment and where they are; HITId is the caller's to add.
ASSIGNMENT: dict[str, Any] = {
    "AssignmentId": F("assignment_id"),
    "WorkerId": F("worker__worker_id"),
    "AssignmentStatus": Case(
        *(When(state=state, then=Value(status)) for state, status in ASSIGNMENT_STATUS.items())
    ),
    "AutoApprovalTime": Epoch("auto_approval_at"),
    "AcceptTime": Epoch("accepted_at"),
    "SubmitTime": Epoch("submitted_at"),
    "ApprovalTime": Epoch("approved_at"),
    "RejectionTime": Epoch("rejected_at"),
    "Deadline": Epoch("deadline"),
    "Answer": F("answer"),
    "RequesterFeedback": NullIf("feedback", Value("")),
}
STATE_OF = {status: state for state, status in ASSIGNMENT_STATUS.items()}
ONE_ASSIGNMENT = PreparedQuery(
    lambda key: Assignment.objects.filter(pk=key).values_list(*ASSIGNMENT.values()), key=int
)

# Exact to the last digit, which the times of a page's rows are not.
PLACE = PreparedQuery(
    lambda key, assignment_id, requester: Assignment.objects.filter(
        pk=key, assignment_id=assignment_id, hit__requester=requester, submitted_at__isnull=False
    ).values_list("submitted_at"),
    key=int,
    assignment_id=str,
    requester=int,
)


@operation("ListAssignmentsForHIT")
def list_assignments_for_hit(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return a page of what was handed in for a HIT, in the order it came."""
    states = tuple(STATE_OF[one] for one in parameters.get("AssignmentStatuses") or STATE_OF)
    size, last = page_asked(parameters, str)
    after = {"value": FIRST, "key": 0} if last is None else _place_of(call, *last)
    found = _settled_page(call, parameters["HITId"], states, size, **after)
    token = token_after(found[-1][0], found[-1][-1]) if found else None
    hit = {"HITId": parameters["HITId"]}
    rows = [hit | dict(zip(ASSIGNMENT, row, strict=False)) for row in found]
    return {"NumResults": len(found), "NextToken": token, "Assignments": rows}


def _place_of(call: Call, assignment_id: str, key: int) -> dict[str, Any]:
    """Return where the row of a token stands in the order of handing in."""
    row = PLACE.first(key=key, assignment_id=assignment_id, requester=call.requester.pk)
    if row is None:
        raise InvalidParameter(FOREIGN_TOKEN)
    return {"value": row[0], "key": key}


def _settled_page(
    call: Call, hit_id: str, states: tuple[str, ...], size: int, **after: Any
) -> list[tuple[Any, ...]]:
    """Return a page of rows and the one after it; raises HITDoesNotExist.

    One statement unless it finds none: they wait for a HIT that time has changed to be settled.
    """
    page = _page_of_hit(states, size)
    which = {"hit_id": hit_id, "requester": call.requester.pk, **after}
    found = page.rows(now=call.now, **which)
    if found:
        return found
    settle_own(call, hit_id)
    return page.rows(now=FIRST, **which)


@lru_cache(maxsize=256)
def _page_of_hit(states: tuple[str, ...], size: int) -> PreparedQuery:
    return PreparedQuery(
        lambda hit_id, requester, now, value, key: (
            Assignment.objects.filter(hit__hit_id=hit_id, hit__requester=requester)
            .filter(Q(hit__next_due_at__gt=now) | Q(hit__next_due_at=None), state__in=states)
            .filter(Q(submitted_at__gt=value) | Q(submitted_at=value, pk__gt=key))
            .order_by("submitted_at", "pk")
            .values_list(*ASSIGNMENT.values(), "pk")[:size]
        ),
        hit_id=str,
        requester=int,
        now=datetime,
        value=datetime,
        key=int,
    )


@operation("GetAssignment")
def get_assignment(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return an assignment that was handed in, and its HIT."""
    hit_id = handed_in(call, parameters["AssignmentId"]).hit.hit_id
    hit = one_hit(call, hit_id)
    row = ONE_ASSIGNMENT.first(key=handed_in(call, parameters["AssignmentId"]).pk)
    assert row is not None
    found = {"HITId": hit_id, **dict(zip(ASSIGNMENT, row, strict=True))}
    return {"Assignment": found, "HIT": hit}


@operation("ApproveAssignment")
def approve_assignment(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Approve work; with OverrideRejection also what was rejected within 30 days."""
    feedback = _checked_feedback(parameters)
    with own_assignment(call, parameters["AssignmentId"]) as (hit, assignment):
        is_override = assignment.state == AssignmentState.REJECTED and parameters.get(
            "OverrideRejection"
        )
        if is_override:
            refuse_disposed(hit)
            assert assignment.submitted_at is not None
            if call.now - assignment.submitted_at > OVERRIDE_WITHIN:
                raise RequestError(
                    "InvalidAssignmentState",
                    "A rejection can be overridden within 30 days after the work was submitted.",
                )
        else:
            _require_submitted(assignment)
        assignment.feedback = feedback or assignment.feedback
        paid_cents = approve(hit, assignment, call.now)
        refresh(hit, call.now, paid_cents)
    return {}


@operation("RejectAssignment")
def reject_assignment(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Reject work with a reason that the worker reads; its place is not given out again.

    The reason may be empty, as published clients leave it; the worker is told that none was given.
    """
    feedback = _checked_feedback(parameters)
    with own_assignment(call, parameters["AssignmentId"]) as (hit, assignment):
        _require_submitted(assignment)
        reject(hit, assignment, feedback, call.now)
        refresh(hit, call.now)
    return {}


def _checked_feedback(parameters: dict[str, Any]) -> str:
    feedback = parameters.get("RequesterFeedback", "")
    if len(feedback) > LONGEST_FEEDBACK:
        raise InvalidParameter(f"RequesterFeedback is longer than {LONGEST_FEEDBACK} characters.")
    return str(feedback).strip()


def _require_submitted(assignment: Assignment) -> None:
    if assignment.state != AssignmentState.SUBMITTED:
        raise RequestError(
            "InvalidAssignmentState", "This operation can be called with a status of: Submitted"
        )
