"""Assignments that were handed in: read, approved, rejected."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from django.db.models import Q

from marketplace.events import tell
from marketplace.lifecycle import approve, refresh
from marketplace.models import HIT, Assignment, State
from marketplace.operations.descriptions import (
    ASSIGNMENT_COLUMNS,
    ASSIGNMENT_STATUS,
    describe_assignment,
    describe_hit,
)
from marketplace.operations.ownership import (
    handed_in,
    own_assignment,
    refuse_disposed,
    settled_hit,
    settled_key,
)
from marketplace.prepared import Prepared
from marketplace.wire.errors import InvalidParameter, RequestError
from marketplace.wire.registry import Call, operation
from marketplace.wire.results import listing, page_asked, token_after

OVERRIDE_WITHIN = timedelta(days=30)
LONGEST_FEEDBACK = 1024
FIRST = datetime(1970, 1, 1, tzinfo=UTC)
STATE_OF = {status: state for state, status in ASSIGNMENT_STATUS.items()}


@operation("ListAssignmentsForHIT")
def list_assignments_for_hit(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return a page of what was handed in for a HIT, in the order it came."""
    hit = settled_key(call, parameters["HITId"])
    states = tuple(STATE_OF[one] for one in parameters.get("AssignmentStatuses") or STATE_OF)
    size, last = page_asked(parameters, datetime)
    value, key = last or (FIRST, 0)
    rows = _page_of_hit(states, size).rows(hit=hit, value=value, key=key)
    found, token = list(rows), None
    if len(found) > size:
        found.pop()
        key = found[-1][-1]
        # Exact to the last digit, which the times of the rows are not.
        value = Assignment.objects.values_list("submitted_at", flat=True).get(pk=key)
        token = token_after(value, key)
    hit_id = parameters["HITId"]
    return listing("Assignments", found, token, lambda row: describe_assignment(row, hit_id))


@lru_cache(maxsize=256)
def _page_of_hit(states: tuple[str, ...], size: int) -> Prepared:
    return Prepared(
        lambda hit, value, key: (
            Assignment.objects.filter(hit=hit, state__in=states)
            .filter(Q(submitted_at__gt=value) | Q(submitted_at=value, pk__gt=key))
            .order_by("submitted_at", "pk")
            .values_list(*ASSIGNMENT_COLUMNS, "pk")[: size + 1]
        ),
        hit=int,
        value=datetime,
        key=int,
    )


@operation("GetAssignment")
def get_assignment(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return an assignment that was handed in, and its HIT."""
    hit_id = handed_in(call, parameters["AssignmentId"]).hit.hit_id
    hit = settled_hit(call, hit_id)
    key = handed_in(call, parameters["AssignmentId"]).pk
    row = Assignment.objects.values_list(*ASSIGNMENT_COLUMNS).get(pk=key)
    return {"Assignment": describe_assignment(row, hit_id), "HIT": describe_hit(hit, call.now)}


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
