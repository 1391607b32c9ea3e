"""A worker's account as a table: every reward, bonus and payment, and what still waits."""

from collections.abc import Iterator
from datetime import datetime

from django.db.models import Q, QuerySet

from common.spreadsheet import csv_text
from marketplace.models import (
    Assignment,
    AssignmentState,
    BonusPayment,
    LedgerEntry,
    LedgerKind,
    Payout,
    Worker,
)
from marketplace.money.amounts import amount_of

COLUMNS = ("date", "kind", "amount", "owed_after", "requester", "hit", "assignment", "note")


def statement_csv(worker: Worker) -> str:
    """Return the statement as CSV, oldest first: what waits for approval stands at the end.

    `owed_after` counts approved rewards and bonuses less payments; pending rewards never.
    """
    return csv_text([COLUMNS, *_rows(worker)])


def _rows(worker: Worker) -> Iterator[list[str]]:
    owed = 0
    for at, kind, cents, facts in sorted(_entries(worker), key=lambda entry: entry[0]):
        owed += -cents if kind == LedgerKind.PAYOUT else cents
        yield _row(at, kind, cents, amount_of(owed), facts)
    for one in (
        _assignments(worker).filter(state=AssignmentState.SUBMITTED).order_by("submitted_at")
    ):
        assert one.submitted_at is not None
        yield _row(one.submitted_at, "pending", one.reward_cents, "", _facts(one))


def _entries(worker: Worker) -> Iterator[tuple[datetime, str, int, tuple[str, ...]]]:
    """Yield time, kind, cents and facts of everything in the ledger."""
    rewarded = {
        str(one.pk): one for one in _assignments(worker).filter(state=AssignmentState.APPROVED)
    }
    bonuses = BonusPayment.objects.filter(worker=worker).select_related(
        "assignment__hit__hit_type__requester"
    )
    given = {str(one.pk): one for one in bonuses}
    paid = {str(one.pk): one for one in Payout.objects.filter(worker=worker)}
    for entry in LedgerEntry.objects.filter(worker=worker):
        cause = entry.key.partition(":")[2]
        facts: tuple[str, ...] = ("", "", "", "")
        if entry.kind == LedgerKind.REWARD and cause in rewarded:
            facts = _facts(rewarded[cause])
        elif entry.kind == LedgerKind.BONUS and cause in given:
            facts = (*_facts(given[cause].assignment)[:3], given[cause].reason)
        elif entry.kind == LedgerKind.PAYOUT and cause in paid:
            payout = paid[cause]
            facts = ("", "", "", f"{payout.paid_on} {payout.method} {payout.reference}")
        yield entry.at, str(entry.kind), entry.amount_cents, facts


def _assignments(worker: Worker) -> QuerySet[Assignment]:
    mine = Q(worker=worker) | Q(worker__merged_into=worker)
    return Assignment.objects.filter(mine).select_related("hit__hit_type__requester")


def _facts(assignment: Assignment) -> tuple[str, ...]:
    kind = assignment.hit.hit_type
    return (kind.requester.name, kind.title, assignment.assignment_id, "")


def _row(at: datetime, kind: str, cents: int, owed_after: str, facts: tuple[str, ...]) -> list[str]:
    when = f"{at:%Y-%m-%d %H:%M:%S}Z"
    return [when, kind, amount_of(cents), owed_after, *facts]
