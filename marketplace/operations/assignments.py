"""Assignments that were handed in: read, approved, rejected."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from django.db.models import Q

from marketplace.events import tell
from marketplace.lifecycle import approve, refresh
from marketplace.models import HIT, Assignment, State
from marketplace.operations.descriptions import (
    ASSIGNMENT,
    ASSIGNMENT_STATUS,
    describe_hit,
)
from marketplace.operations.ownership import (
    handed_in,
    own_assignment,
    refuse_disposed,
    settle_own,
    settled_hit,
)
from marketplace.prepared import Prepared
from marketplace.wire.compiled import Columns
from marketplace.wire.errors import InvalidParameter, RequestError
from marketplace.wire.registry import Call, operation
from marketplace.wire.results import page_asked, token_after

OVERRIDE_WITHIN = timedelta(days=30)
LONGEST_FEEDBACK = 1024
FIRST = datetime(1970, 1, 1, tzinfo=UTC)
STATE_OF = {status: state for state, status in ASSIGNMENT_STATUS.items()}
ONE_ASSIGNMENT = Prepared(
    lambda key: Assignment.objects.filter(pk=key).values_list(*ASSIGNMENT.values()), key=int
)


@operation("ListAssignmentsForHIT")
def list_assignments_for_hit(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return a page of what was handed in for a HIT, in the order it came."""
    states = tuple(STATE_OF[one] for one in parameters.get("AssignmentStatuses") or STATE_OF)
    size, last = page_asked(parameters, datetime)
    value, key = last or (FIRST, 0)
    found = _settled_page(call, parameters["HITId"], states, size, value=value, key=key)
    token = None
    if len(found) > size:
        found.pop()
        key = found[-1][-1]
        # Exact to the last digit, which the times of the rows are not.
        value = Assignment.objects.values_list("submitted_at", flat=True).get(pk=key)
        token = token_after(value, key)
    columns = Columns(zip(ASSIGNMENT, zip(*found, strict=True), strict=False))
    if found:
        columns["HITId"] = [parameters["HITId"]] * len(found)
    return {"NumResults": len(found), "NextToken": token, "Assignments": columns}


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
    # Nothing was due yet in 1970.
    return page.rows(now=FIRST, **which)


@lru_cache(maxsize=256)
def _page_of_hit(states: tuple[str, ...], size: int) -> Prepared:
    return Prepared(
        lambda hit_id, requester, now, value, key: (
            Assignment.objects.filter(hit__hit_id=hit_id, hit__requester=requester)
            .filter(Q(hit__next_due_at__gt=now) | Q(hit__next_due_at=None), state__in=states)
            .filter(Q(submitted_at__gt=value) | Q(submitted_at=value, pk__gt=key))
            .order_by("submitted_at", "pk")
            .values_list(*ASSIGNMENT.values(), "pk")[: size + 1]
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
    hit = settled_hit(call, hit_id)
    row = ONE_ASSIGNMENT.first(key=handed_in(call, parameters["AssignmentId"]).pk)
    assert row is not None
    found = {"HITId": hit_id, **dict(zip(ASSIGNMENT, row, strict=True))}
    return {"Assignment": found, "HIT": describe_hit(hit, call.now)}


@operation("ApproveAssignment")
def approve_assignment(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Approve work; with OverrideRejection also what was rejected within 30 days."""
    feedback = _checked_feedback(parameters)
    with own_assignment(call, parameters["AssignmentId"]) as (hit, assignment):
        is_override = assignment.state == State.REJECTED and parameters.get("OverrideRejection")
        if is_override:
            _check_override(hit, assignment, call.now)
        else:
            _require_submitted(assignment)
        assignment.feedback = feedback or assignment.feedback
        paid_cents = approve(hit, assignment, call.now)
        refresh(hit, call.now, paid_cents)
    return {}


@operation("RejectAssignment")
def reject_assignment(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Reject work with a reason that the worker reads; its place is not given out again."""
    feedback = _checked_feedback(parameters)
    if not feedback.strip():
        raise InvalidParameter("RequesterFeedback may not be empty: the worker reads why.")
    with own_assignment(call, parameters["AssignmentId"]) as (hit, assignment):
        _require_submitted(assignment)
        assignment.state, assignment.rejected_at = State.REJECTED, call.now
        assignment.feedback = feedback
        assignment.save()
        tell(hit, "AssignmentRejected", call.now, assignment.assignment_id)
        refresh(hit, call.now)
    return {}


def _checked_feedback(parameters: dict[str, Any]) -> str:
    feedback = parameters.get("RequesterFeedback", "")
    if len(feedback) > LONGEST_FEEDBACK:
        raise InvalidParameter(f"RequesterFeedback is longer than {LONGEST_FEEDBACK} characters.")
    return str(feedback)


def _require_submitted(assignment: Assignment) -> None:
    if assignment.state != State.SUBMITTED:
        raise RequestError(
            "InvalidAssignmentState", "This operation can be called with a status of: Submitted"
        )


def _check_override(hit: HIT, assignment: Assignment, now: datetime) -> None:
    refuse_disposed(hit)
    assert assignment.submitted_at is not None
    if now - assignment.submitted_at > OVERRIDE_WITHIN:
        raise RequestError(
            "InvalidAssignmentState",
            "A rejection can be overridden within 30 days after the work was submitted.",
        )
