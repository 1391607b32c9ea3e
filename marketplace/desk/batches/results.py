"""A batch's answers as a CSV with the columns that MTurk's batch results had."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from marketplace.hits.questions.answers import answers_in, with_parts
from marketplace.models import HANDED_IN, Assignment, AssignmentState, Batch
from marketplace.money.amounts import amount_of
from marketplace.people.old_ids import called

COLUMNS = (
    "HITId",
    "HITTypeId",
    "Title",
    "Description",
    "Keywords",
    "Reward",
    "CreationTime",
    "MaxAssignments",
    "RequesterAnnotation",
    "AssignmentDurationInSeconds",
    "AutoApprovalDelayInSeconds",
    "Expiration",
    "NumberOfSimilarHITs",
    "LifetimeInSeconds",
    "AssignmentId",
    "WorkerId",
    "AssignmentStatus",
    "AcceptTime",
    "SubmitTime",
    "AutoApprovalTime",
    "ApprovalTime",
    "RejectionTime",
    "RequesterFeedback",
    "WorkTimeInSeconds",
    "LifetimeApprovalRate",
    "Last30DaysApprovalRate",
    "Last7DaysApprovalRate",
)
STATUS = {
    AssignmentState.SUBMITTED: "Submitted",
    AssignmentState.APPROVED: "Approved",
    AssignmentState.REJECTED: "Rejected",
}


def results(batch: Batch, now: datetime) -> tuple[list[str], list[list[str]]]:
    """Return the header and a line for each assignment handed in, by row, then by time."""
    rows = list(
        Assignment.objects.filter(hit__batch_row__batch=batch, state__in=HANDED_IN)
        .select_related("worker", "hit__hit_type", "hit__batch_row")
        .order_by("hit__batch_row__position", "submitted_at", "pk")
    )
    answers = [with_parts(answers_in(row.answer)) for row in rows]
    names = list(dict.fromkeys(name for answer in answers for name in answer))
    inputs = [str(column) for column in batch.columns]
    header = [
        *COLUMNS,
        *(f"Input.{column}" for column in inputs),
        *(f"Answer.{name}" for name in names),
        "Approve",
        "Reject",
    ]
    rates = _rates(batch, {row.worker_id for row in rows}, now)
    old = called(batch.project.requester_id, {row.worker.worker_id for row in rows})
    lines = [
        [
            *_facts(row, old),
            *rates[row.worker_id],
            *(str(row.hit.batch_row.inputs.get(column, "")) for column in inputs),
            *(answer.get(name, "") for name in names),
            "",
            "",
        ]
        for row, answer in zip(rows, answers, strict=True)
    ]
    return header, lines


def _facts(row: Assignment, old: dict[str, str]) -> Iterator[str]:
    hit, kind = row.hit, row.hit.hit_type
    assert row.submitted_at is not None
    values: list[Any] = [
        hit.hit_id,
        kind.hit_type_id,
        kind.title,
        kind.description,
        kind.keywords,
        f"${amount_of(kind.reward_cents)}",
        hit.created_at,
        hit.max_assignments,
        hit.annotation,
        kind.assignment_duration_seconds,
        kind.auto_approval_delay_seconds,
        hit.expires_at,
        "",
        int((hit.expires_at - hit.created_at).total_seconds()),
        row.assignment_id,
        old.get(row.worker.worker_id, row.worker.worker_id),
        STATUS[AssignmentState(row.state)],
        row.accepted_at,
        row.submitted_at,
        row.auto_approval_at,
        row.approved_at,
        row.rejected_at,
        row.feedback,
        int((row.submitted_at - row.accepted_at).total_seconds()),
    ]
    return (_written(value) for value in values)


def _written(value: object) -> str:
    if isinstance(value, datetime):
        return f"{value.astimezone(UTC):%a %b %d %H:%M:%S UTC %Y}"
    return "" if value is None else str(value)


def _rates(batch: Batch, workers: set[int], now: datetime) -> dict[int, list[str]]:
    """Return `80% (4/5)` for each worker: this requester's approvals ever, in 30 and in 7 days."""
    decided = Assignment.objects.filter(
        worker__in=workers,
        hit__requester=batch.project.requester_id,
        state__in=[AssignmentState.APPROVED, AssignmentState.REJECTED],
    ).values_list("worker", "state", "submitted_at")
    spans = [None, now - timedelta(days=30), now - timedelta(days=7)]
    counts = {worker: [[0, 0] for _ in spans] for worker in workers}
    for worker, state, at in decided:
        for count, since in zip(counts[int(worker)], spans, strict=True):
            if since is None or (at is not None and at >= since):
                count[0] += state == AssignmentState.APPROVED
                count[1] += 1
    return {
        worker: [f"{100 * good // all_ if all_ else 0}% ({good}/{all_})" for good, all_ in pairs]
        for worker, pairs in counts.items()
    }
