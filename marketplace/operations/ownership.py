"""Lookups of what a request names; each raises WireError where it is not the caller's."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from common.prepared_sql import PreparedQuery
from marketplace.fault_injection import is_frozen
from marketplace.hits.lifecycle import locked
from marketplace.models import (
    HANDED_IN,
    HIT,
    Assignment,
    AssignmentState,
    QualificationType,
    Worker,
)
from marketplace.people.accounts import await_worker, workers_named
from marketplace.wire.calls import Call, DoesNotExist, RequestError, WireError

DUE_OF_HIT = PreparedQuery(
    lambda hit_id, requester: HIT.objects.filter(hit_id=hit_id, requester=requester).values_list(
        "next_due_at"
    ),
    hit_id=str,
    requester=int,
)


@contextmanager
def own_hit(call: Call, hit_id: str) -> Iterator[HIT]:
    """Hold the lock of the caller's HIT, settled; raises HITDoesNotExist."""
    key = HIT.objects.filter(hit_id=hit_id, requester=call.requester).values_list("pk", flat=True)
    found = key.first()
    if found is None:
        raise DoesNotExist("Hit", "HIT", hit_id)
    with locked(call.now, pk=found) as hit:
        yield hit


def settle_own(call: Call, hit_id: str) -> None:
    """Settle the caller's HIT, locking only if time has changed it; raises HITDoesNotExist."""
    row = DUE_OF_HIT.first(hit_id=hit_id, requester=call.requester.pk)
    if row is None:
        raise DoesNotExist("Hit", "HIT", hit_id)
    (next_due_at,) = row
    if next_due_at is not None and next_due_at <= call.now:
        with own_hit(call, hit_id):
            pass


def refuse_disposed(hit: HIT) -> None:
    """Raise InvalidHITState for a HIT that is gone."""
    if hit.disposed_at is not None:
        raise RequestError("InvalidHITState", "This HIT is currently in the state 'Disposed'.")


def require_changeable(hit: HIT, now: datetime) -> None:
    """Raise InvalidHITState for a HIT that is gone, or by an injected fault too new."""
    refuse_disposed(hit)
    if is_frozen(hit, now):
        raise RequestError(
            "InvalidHITState",
            "This HIT was created a moment ago and can only be expired yet; try again soon.",
        )


def handed_in(
    call: Call, assignment_id: str, statuses: str = "Submitted,Approved,Rejected"
) -> Assignment:
    """Return the assignment handed in under this id; raises AssignmentDoesNotExist.

    Raises InvalidAssignmentState, which names the `statuses` to call with, for one in progress.
    """
    found = (
        Assignment.objects.select_related("hit")
        .filter(assignment_id=assignment_id, hit__requester=call.requester, state__in=HANDED_IN)
        .first()
    )
    if found is not None:
        return found
    mine = Assignment.objects.filter(hit__requester=call.requester, state=AssignmentState.ACCEPTED)
    if mine.filter(assignment_id=assignment_id, deadline__gt=call.now).exists():
        raise RequestError(
            "InvalidAssignmentState", f"This operation can be called with a status of: {statuses}"
        )
    raise DoesNotExist("Assignment", "Assignment", assignment_id)


@contextmanager
def own_assignment(call: Call, assignment_id: str) -> Iterator[tuple[HIT, Assignment]]:
    """Hold the lock of the HIT of an assignment that was handed in, both settled."""
    key = handed_in(call, assignment_id, "Submitted").hit_id
    with locked(call.now, pk=key) as hit:
        yield hit, handed_in(call, assignment_id, "Submitted")


def own_type(call: Call, type_id: str) -> QualificationType:
    """Return the caller's qualification type; raises QualificationTypeDoesNotExist."""
    found = QualificationType.objects.filter(
        qualification_type_id=type_id, requester=call.requester, deleted_at=None
    ).first()
    if found is None:
        raise DoesNotExist("QualificationType", "QualificationType", type_id)
    return found


def listable_type(call: Call, type_id: str) -> QualificationType:
    """Return the caller's qualification type, or a group of the host's.

    Raises QualificationTypeDoesNotExist.
    """
    group = QualificationType.objects.filter(
        qualification_type_id=type_id, group__isnull=False, deleted_at=None
    ).first()
    return group or own_type(call, type_id)


def known_worker(call: Call, worker_id: str) -> Worker:
    """Return the worker; raises ParameterValidationError, as the service did for unknown ids."""
    found = workers_named([worker_id], call.requester.pk).get(worker_id)
    if found is None:
        message = f'The value "{worker_id}" is not valid for the parameter WorkerId.'
        raise WireError("ParameterValidationError", message)
    return found


def expected_worker(call: Call, worker_id: str) -> Worker:
    """Return the worker, or the place of somebody who has not come yet, kept under this id."""
    found = workers_named([worker_id], call.requester.pk, is_awaiting=True).get(worker_id)
    return found or await_worker(worker_id, call.requester.pk, call.now)
