"""Batches: a HIT of each row, one transaction a row; answers as a CSV; decisions that come back.

All of it by the requester API's own operations. The columns are those that MTurk's results had.
"""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from django.http import HttpRequest

import marketplace.operations  # noqa: F401  (importing the package registers the operations)
from common.spreadsheet import Table, csv_text, read_table
from marketplace import clock
from marketplace.amounts import amount_of, price_of
from marketplace.funds import InsufficientFundsError
from marketplace.models import (
    HANDED_IN,
    HIT,
    Assignment,
    AssignmentState,
    Batch,
    BatchRow,
    HITType,
    Project,
    Requester,
)
from marketplace.people.accounts import old_ids_of
from marketplace.questions.answers import answers_in, with_parts
from marketplace.questions.question import QuestionError, read_question
from marketplace.questions.template import (
    document,
    filled,
    question_xml,
    template_of,
    variables,
)
from marketplace.router import atomic
from marketplace.wire.calls import OPERATIONS, Call, RequestError, WireError
from marketplace.wire.shapes import load_request


def call_of(request: HttpRequest, requester: Requester) -> Call:
    """Return a call made now in the requester's name, as if it had come over the wire."""
    return Call(requester, clock.now(), request)


def carry_out(call: Call, name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the result of an operation, parameters checked as on the wire.

    Raises WireError; its `message` is a sentence for the requester.
    """
    checked = load_request(name, json.dumps(parameters).encode())
    try:
        return OPERATIONS[name](call, checked)
    except InsufficientFundsError as error:
        raise RequestError("InsufficientFunds", str(error)) from None


# The longest that one request publishes; the page then goes on by itself.
SECONDS_AT_ONCE = 3.0


class BatchError(ValueError):
    """The batch cannot be made or published; the message says what to do."""


def make_batch(
    project: Project, name: str, table: Table, now: datetime, form_key: str = ""
) -> Batch:
    """Return a batch of a CSV's rows, not published yet; columns of a variable's name are mapped.

    form_key: names the form that the rows came with; no other batch of the project has it.
    Raises BatchError when the template has variables and the table no row.
    """
    wanted = variables(template_of(project.terms()))
    if wanted and not table.lines:
        raise BatchError("The file has no rows under its first line. Add one row for each HIT.")
    lines = [values for _, values in table.lines] or [{}]
    with atomic():
        batch = Batch.objects.create(
            project=project,
            form_key=form_key,
            name=name[:120],
            columns=table.columns,
            mapping=same_names(wanted, table.columns),
            terms=project.terms(),
            created_at=now,
        )
        BatchRow.objects.bulk_create(
            (
                BatchRow(batch=batch, position=position, inputs=values)
                for position, values in enumerate(lines, start=1)
            ),
            batch_size=500,
        )
    return batch


def same_names(wanted: list[str], columns: list[str]) -> dict[str, str]:
    """Return the column of each variable that has one of its own name, whatever the case."""
    lower = {column.lower(): column for column in columns}
    return {one: lower[one.lower()] for one in wanted if one.lower() in lower}


def refresh_drafts(project: Project) -> None:
    """Bring the batches that are not published yet in line with a changed project."""
    wanted = variables(template_of(project.terms()))
    for batch in project.batches.filter(published_at=None):
        kept = {one: column for one, column in batch.mapping.items() if one in wanted}
        mapping = same_names(wanted, batch.columns) | kept
        # One that is published meanwhile keeps its terms.
        drafts = Batch.objects.filter(pk=batch.pk, published_at=None)
        drafts.update(terms=project.terms(), mapping=mapping)


def unmapped(batch: Batch) -> list[str]:
    """Return the template's variables that no column fills."""
    return [one for one in variables(template_of(batch.terms)) if one not in batch.mapping]


def page_of_row(batch: Batch, row: BatchRow) -> str:
    """Return the whole HTML page that a worker sees for this row."""
    html = template_of(batch.terms)
    values = {name: str(row.inputs.get(column, "")) for name, column in batch.mapping.items()}
    are_html = bool(batch.terms["values_are_html"])
    return document(filled(html, values, are_html=are_html), batch.terms["title"])


def cost_cents(batch: Batch) -> int:
    """Return what the batch costs when every place is worked and approved."""
    return int(batch.rows.count() * batch.terms["max_assignments"] * batch.terms["reward_cents"])


def requirements_of(terms: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the QualificationRequirements of a project's groups."""
    return [
        {
            "QualificationTypeId": type_id,
            "Comparator": "Exists",
            "ActionsGuarded": "DiscoverPreviewAndAccept",
        }
        for type_id in terms["groups"]
    ]


def kind_of(project: Project, terms: dict[str, Any]) -> HITType:
    """Return the type of HITs on these terms, not stored, to see who it is for."""
    return HITType(requester_id=project.requester_id, requirements=requirements_of(terms))


def check_before(batch: Batch) -> None:
    """Raise BatchError when a batch cannot be published as it is."""
    if missing := unmapped(batch):
        raise BatchError(f"Choose the column for ${{{missing[0]}}} first.")
    requester = batch.project.requester
    requester.refresh_from_db()
    needed = cost_cents(batch)
    if needed > requester.balance_cents:
        free = price_of(requester.balance_cents)
        raise BatchError(
            f"This costs {price_of(needed)} and the account has {free} free. "
            "Ask the host for credit, or publish fewer rows."
        )


def _check_rows(batch: Batch) -> None:
    """Raise BatchError for the first row whose page could not be published."""
    for row in batch.rows.order_by("position").iterator():
        try:
            read_question(question_xml(page_of_row(batch, row)))
        except QuestionError as error:
            raise BatchError(
                f"Row {row.position} cannot be published, so none was. {error} "
                "Mend that row in the CSV and upload it again."
            ) from None


def begin(batch: Batch, now: datetime, seen_cents: int | None) -> None:
    """Allow the rows to be published, on the terms the batch has now; raises BatchError.

    seen_cents: what its page said that it costs, None where it said nothing: that is refused.
    Locks the batch.
    """
    if batch.published_at is not None:
        return
    check_before(batch)
    _check_rows(batch)
    with atomic():
        row = Batch.objects.select_for_update().get(pk=batch.pk)
        if row.published_at is None:
            read = (batch.terms, batch.mapping)
            if (row.terms, row.mapping) != read or seen_cents != cost_cents(row):
                raise BatchError(
                    "The project or the columns were changed meanwhile, and so was this batch. "
                    "Look at its cost and its rows again, then publish."
                )
            Batch.objects.filter(pk=batch.pk).update(published_at=now)
    batch.refresh_from_db()


def publish_some(batch: Batch, call: Call, seconds: float = SECONDS_AT_ONCE) -> int:
    """Publish rows until none is left or the time is up; returns how many are left.

    Each row and its HIT are committed together, so that a crash loses nothing and doubles nothing.
    Raises WireError for what the operation refuses.
    """
    ends_at = time.monotonic() + seconds
    kind = carry_out(call, "CreateHITType", _kind(batch.terms))["HITTypeId"]
    waiting = batch.rows.filter(hit=None).order_by("position")
    for key in list(waiting.values_list("pk", flat=True)):
        _publish_row(batch, key, kind, call)
        if time.monotonic() >= ends_at:
            break
    return waiting.count()


def _publish_row(batch: Batch, key: int, kind: str, call: Call) -> None:
    with atomic():
        row = BatchRow.objects.select_for_update().get(pk=key)
        if row.hit_id is not None:
            return
        made = carry_out(
            call,
            "CreateHITWithHITType",
            {
                "HITTypeId": kind,
                "Question": question_xml(page_of_row(batch, row)),
                "MaxAssignments": batch.terms["max_assignments"],
                "LifetimeInSeconds": batch.terms["lifetime_seconds"],
                "RequesterAnnotation": f"BatchId:{batch.pk};row:{row.position};",
            },
        )["HIT"]
        row.hit = HIT.objects.get(hit_id=made["HITId"])
        row.save(update_fields=["hit"])


def _kind(terms: dict[str, Any]) -> dict[str, Any]:
    values = {
        "Title": terms["title"],
        "Description": terms["description"],
        "Keywords": terms["keywords"],
        "Reward": amount_of(terms["reward_cents"]),
        "AssignmentDurationInSeconds": terms["assignment_duration_seconds"],
        "AutoApprovalDelayInSeconds": terms["auto_approval_delay_seconds"],
        "QualificationRequirements": requirements_of(terms),
    }
    return {name: value for name, value in values.items() if value not in ("", [])}


def stop(batch: Batch, call: Call) -> int:
    """End every HIT of the batch; workers who hold one may finish. Returns how many were open."""
    hits = HIT.objects.filter(batch_row__batch=batch, expires_at__gt=call.now, disposed_at=None)
    ids = list(hits.values_list("hit_id", flat=True))
    for hit_id in ids:
        parameters = {"HITId": hit_id, "ExpireAt": int(call.now.timestamp())}
        carry_out(call, "UpdateExpirationForHIT", parameters)
    return len(ids)


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
    old = old_ids_of(batch.project.requester_id, {row.worker.worker_id for row in rows})
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
