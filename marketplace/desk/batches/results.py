"""A batch's answers as a CSV with the columns that MTurk's batch results had."""

import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from marketplace.models import HANDED_IN, HIT, Assignment, Batch, State
from marketplace.money.amounts import amount_of

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
STATUS = {State.SUBMITTED: "Submitted", State.APPROVED: "Approved", State.REJECTED: "Rejected"}
ANSWER = "{*}Answer"


def answers_in(xml: str) -> dict[str, str]:
    """Return the fields of QuestionFormAnswers; of a field that is there twice, both, by a bar.

    Expects XML that this marketplace wrote itself.
    """
    found: dict[str, str] = {}
    for answer in ElementTree.fromstring(xml).iterfind(ANSWER):
        name = answer.findtext("{*}QuestionIdentifier") or ""
        values = [node.text or "" for node in answer if not node.tag.endswith("QuestionIdentifier")]
        value = "|".join(values)
        found[name] = f"{found[name]}|{value}" if name in found else value
    return found


def with_parts(answers: dict[str, str]) -> dict[str, str]:
    """Return the fields with what a crowd-form packed into `taskAnswers` behind it, each by name.

    Of choices those that were made, by a bar, as plain boxes come in; what else is no text as JSON.
    """
    try:
        packed = json.loads(answers.get("taskAnswers", "[]"))
    except ValueError:
        return answers
    parts = [one for one in packed if isinstance(one, dict)] if isinstance(packed, list) else []
    return answers | {
        name: _plain(value) for part in parts for name, value in part.items() if name not in answers
    }


def readable(xml: str) -> dict[str, str]:
    """Return the fields of an answer for somebody to read: parts in place of their JSON."""
    fields = answers_in(xml)
    parts = with_parts(fields)
    return {name: parts[name] for name in parts if name != "taskAnswers" or parts == fields}


def _plain(value: Any) -> str:
    if isinstance(value, dict) and all(isinstance(one, bool) for one in value.values()):
        return "|".join(name for name, is_chosen in value.items() if is_chosen)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


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
    lines = [
        [
            *_facts(row),
            *rates[row.worker_id],
            *(str(row.hit.batch_row.inputs.get(column, "")) for column in inputs),
            *(answer.get(name, "") for name in names),
            "",
            "",
        ]
        for row, answer in zip(rows, answers, strict=True)
    ]
    return header, lines


def _facts(row: Assignment) -> Iterator[str]:
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
        _lifetime(hit),
        row.assignment_id,
        row.worker.worker_id,
        STATUS[State(row.state)],
        row.accepted_at,
        row.submitted_at,
        row.auto_approval_at,
        row.approved_at,
        row.rejected_at,
        row.feedback,
        int((row.submitted_at - row.accepted_at).total_seconds()),
    ]
    return (_written(value) for value in values)


def _lifetime(hit: HIT) -> int:
    return int((hit.expires_at - hit.created_at).total_seconds())


def _written(value: object) -> str:
    if isinstance(value, datetime):
        return f"{value.astimezone(UTC):%a %b %d %H:%M:%S UTC %Y}"
    return "" if value is None else str(value)


def _rates(batch: Batch, workers: set[int], now: datetime) -> dict[int, list[str]]:
    """Return `80% (4/5)` for each worker: this requester's approvals ever, in 30 and in 7 days."""
    decided = Assignment.objects.filter(
        worker__in=workers,
        hit__requester=batch.project.requester_id,
        state__in=[State.APPROVED, State.REJECTED],
    ).values_list("worker", "state", "submitted_at")
    spans = [None, now - timedelta(days=30), now - timedelta(days=7)]
    counts = {worker: [[0, 0] for _ in spans] for worker in workers}
    for worker, state, at in decided:
        for count, since in zip(counts[int(worker)], spans, strict=True):
            if since is None or (at is not None and at >= since):
                count[0] += state == State.APPROVED
                count[1] += 1
    return {
        worker: [f"{100 * good // all_ if all_ else 0}% ({good}/{all_})" for good, all_ in pairs]
        for worker, pairs in counts.items()
    }
