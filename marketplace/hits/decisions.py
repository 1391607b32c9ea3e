"""Work approved or rejected, whoever or whatever decides."""

from datetime import datetime

from marketplace.models import HIT, Assignment, AssignmentState, LedgerKind
from marketplace.money import funds
from marketplace.notifications.decision_messages import reason_of, tell_of_work
from marketplace.notifications.events import record_event
from marketplace.notifications.system_messages import system_message


def approve(hit: HIT, assignment: Assignment, at: datetime | None) -> int:
    """Mark an assignment approved and owe its reward; returns the cents that `refresh` must spend.

    What a closed account still earns is its person's, whose account is another now; whose the
    assignment is stays as it is. Expects the HIT's lock.
    """
    assert at is not None
    # Before the row is written: a merge that has begun waits for it with this account locked.
    worker_id = funds.account_of(assignment.worker_id)
    if assignment.state == AssignmentState.REJECTED:
        means = system_message("text", "approved_after_all_means")
        tell_of_work(hit, assignment, "approved_after_all", means, at)
    assignment.state, assignment.approved_at = AssignmentState.APPROVED, at
    assignment.save(update_fields=["state", "approved_at", "feedback"])
    record_event(hit, "AssignmentApproved", at, assignment.assignment_id)
    cents = assignment.reward_cents
    funds.owe(LedgerKind.REWARD, assignment.pk, hit.requester_id, worker_id, cents, at)
    return cents


def reject(hit: HIT, assignment: Assignment, feedback: str, at: datetime) -> None:
    """Mark an assignment rejected, with what the worker reads; expects the HIT's lock."""
    assignment.state, assignment.rejected_at = AssignmentState.REJECTED, at
    assignment.feedback = feedback
    assignment.save(update_fields=["state", "rejected_at", "feedback"])
    record_event(hit, "AssignmentRejected", at, assignment.assignment_id)
    tell_of_work(hit, assignment, "work_rejected", reason_of(feedback), at)
