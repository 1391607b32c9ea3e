"""A batch's answers as a CSV with MTurk's columns, and the decisions that come back in it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from common.spreadsheet import csv_text, read_table
from marketplace.amounts import amount_of
from marketplace.desk.publishing import carry_out
from marketplace.models import HANDED_IN, Assignment, AssignmentState, Batch
from marketplace.people.accounts import called
from marketplace.questions.answers import answers_in, with_parts
from marketplace.wire.calls import Call
from marketplace.wire.errors import WireError

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


REQUIRED = ("AssignmentId", "Approve", "Reject")
MARKS = {"x", "yes", "y", "1", "true"}


@dataclass
class Decisions:
    """What a file asks for, or what became of it; problems by row of the file."""

    n_approved: int = 0
    n_rejected: int = 0
    n_overridden: int = 0
    n_before: int = 0
    n_blank: int = 0
    reasons: list[tuple[str, str]] = field(default_factory=list)
    problems: list[tuple[int, str]] = field(default_factory=list)
    # The decisions alone, to be carried by the page that asks for the last word.
    carried: str = ""

    @property
    def n_to_do(self) -> int:
        """Return how many assignments change."""
        return self.n_approved + self.n_rejected + self.n_overridden


def decide(call: Call, text: str, *, is_dry: bool) -> Decisions:
    """Return what the file's Approve and Reject columns bring about; a dry run changes nothing.

    Decisions taken before are counted, not repeated. Raises UploadError for an unreadable file.
    """
    table = read_table(text, required=REQUIRED, is_ours=True)
    found, kept = Decisions(), []
    for row, cells in table.lines:
        given = [cells[name].strip() for name in REQUIRED]
        if not given[1] and not given[2]:
            found.n_blank += 1
            continue
        kept.append(given)
        try:
            _decide_row(call, given, found, is_dry=is_dry)
        except (WireError, ValueError) as error:
            found.problems.append((row, getattr(error, "message", str(error))))
    found.carried = csv_text([REQUIRED, *kept])
    return found


def _decide_row(call: Call, given: list[str], found: Decisions, *, is_dry: bool) -> None:
    assignment_id, approval, reason = given
    if approval and reason:
        raise ValueError("Both Approve and Reject are filled. Keep one of them.")
    if reason.lower() in MARKS:
        raise ValueError("Write in Reject why the work is rejected: the worker reads it.")
    row = Assignment.objects.filter(
        assignment_id=assignment_id, hit__requester=call.requester, state__in=HANDED_IN
    ).first()
    if row is None:
        raise ValueError(f"There is no assignment {assignment_id[:64]} of yours.")
    is_override = bool(approval) and row.state == AssignmentState.REJECTED
    if row.state == (AssignmentState.APPROVED if approval else AssignmentState.REJECTED):
        found.n_before += 1
        return
    if not approval and row.state == AssignmentState.APPROVED:
        raise ValueError("This work is approved already, and an approval stays.")
    parameters: dict[str, object] = {"AssignmentId": row.assignment_id}
    if reason or approval.lower() not in MARKS:
        parameters["RequesterFeedback"] = reason or approval
    if is_override:
        parameters["OverrideRejection"] = True
    if not is_dry:
        carry_out(call, "RejectAssignment" if reason else "ApproveAssignment", parameters)
    found.n_overridden += is_override
    found.n_approved += bool(approval) and not is_override
    found.n_rejected += bool(reason)
    if reason:
        found.reasons.append((row.assignment_id, reason))
