"""Approvals and rejections that come back in a results CSV: shown first, carried out after."""

from dataclasses import dataclass, field

from common.spreadsheet import csv_text, read_table
from marketplace.desk.batches.calls import carry_out
from marketplace.models import HANDED_IN, Assignment, AssignmentState
from marketplace.wire.errors import WireError
from marketplace.wire.registry import Call

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
        except WireError as error:
            found.problems.append((row, error.message))
        except ValueError as error:
            found.problems.append((row, str(error)))
    found.carried = csv_text([REQUIRED, *kept])
    return found


def _decide_row(call: Call, given: list[str], found: Decisions, *, is_dry: bool) -> None:
    assignment_id, approval, reason = given
    if approval and reason:
        raise ValueError("Both Approve and Reject are filled. Keep one of them.")
    row = Assignment.objects.filter(
        assignment_id=assignment_id, hit__requester=call.requester, state__in=HANDED_IN
    ).first()
    if row is None:
        raise ValueError(f"There is no assignment {assignment_id[:64]} of yours.")
    if approval:
        _approve(call, row, approval, found, is_dry=is_dry)
    else:
        _reject(call, row, reason, found, is_dry=is_dry)


def _approve(call: Call, row: Assignment, approval: str, found: Decisions, *, is_dry: bool) -> None:
    if row.state == AssignmentState.APPROVED:
        found.n_before += 1
        return
    is_override = row.state == AssignmentState.REJECTED
    parameters: dict[str, object] = {"AssignmentId": row.assignment_id}
    if approval.lower() not in MARKS:
        parameters["RequesterFeedback"] = approval
    if is_override:
        parameters["OverrideRejection"] = True
    if not is_dry:
        carry_out(call, "ApproveAssignment", parameters)
    found.n_overridden += is_override
    found.n_approved += not is_override


def _reject(call: Call, row: Assignment, reason: str, found: Decisions, *, is_dry: bool) -> None:
    if reason.lower() in MARKS:
        raise ValueError("Write in Reject why the work is rejected: the worker reads it.")
    if row.state == AssignmentState.REJECTED:
        found.n_before += 1
        return
    if row.state == AssignmentState.APPROVED:
        raise ValueError("This work is approved already, and an approval stays.")
    if not is_dry:
        parameters = {"AssignmentId": row.assignment_id, "RequesterFeedback": reason}
        carry_out(call, "RejectAssignment", parameters)
    found.n_rejected += 1
    found.reasons.append((row.assignment_id, reason))
