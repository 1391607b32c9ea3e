"""The ledger: money between free, held and owed, and whether all of it adds up.

For each requester credits = free + held + rewards + bonuses.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db import connections
from django.db.models import F, OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce

from common.prepared_sql import execute
from marketplace.amounts import price_of
from marketplace.models import HIT, BonusPayment, LedgerEntry, LedgerKind, Payout, Requester, Worker
from marketplace.router import DATABASE

MOVE = (
    f"UPDATE {Requester._meta.db_table} SET balance_cents = balance_cents - %s, "
    "held_cents = held_cents + %s WHERE id = %s AND balance_cents >= %s RETURNING id"
)
ACCOUNT = f"SELECT COALESCE(merged_into_id, id) FROM {Worker._meta.db_table} WHERE id = %s"


class InsufficientFundsError(Exception):
    """The requester's free balance does not cover what was asked."""


def move(requester_id: int, hold_cents: int, spend_cents: int = 0) -> None:
    """Hold (or, negative, release) money and spend some of the balance, in one statement.

    Expects to be inside a transaction; raises InsufficientFundsError and changes nothing when the
    balance would fall below zero.
    """
    if hold_cents == 0 and spend_cents == 0:
        return
    needed = hold_cents + spend_cents
    if not execute(MOVE, [needed, hold_cents, requester_id, needed], DATABASE):
        raise InsufficientFundsError(
            f"This needs {price_of(max(needed, 0))} more than the account has free; "
            "ask the host of the marketplace for credit."
        )


def account_of(worker_id: int) -> int:
    """Return the key of the account that a worker's person has, this one unless it was merged.

    Expects a transaction: a merge of the account waits until it ends, and moves what it entered.
    """
    locking = " FOR KEY SHARE" if connections[DATABASE].vendor == "postgresql" else ""
    [(account,)] = execute(ACCOUNT + locking, [worker_id], DATABASE)
    return int(account)


def owe(
    kind: LedgerKind, cause: int, requester_id: int, worker_id: int, cents: int, now: datetime
) -> None:
    """Enter a reward or bonus that a worker has earned; the same cause is never entered twice."""
    LedgerEntry.objects.create(
        key=f"{kind}:{cause}",
        kind=kind,
        requester_id=requester_id,
        worker_id=worker_id,
        amount_cents=cents,
        at=now,
    )


def credit(requester: Requester, cents: int, reason: str, now: datetime) -> None:
    """Grant a requester credit; expects a transaction, and a `reason` used once per requester."""
    LedgerEntry.objects.create(
        key=f"credit:{requester.pk}:{reason}",
        kind=LedgerKind.CREDIT,
        requester=requester,
        amount_cents=cents,
        at=now,
    )
    Requester.objects.filter(pk=requester.pk).update(balance_cents=F("balance_cents") + cents)


def bonus_cents() -> Coalesce:
    """Return the expression, on assignments, of the integer cents of bonuses sent for each."""
    rows = BonusPayment.objects.filter(assignment=OuterRef("pk")).order_by().values("assignment")
    return Coalesce(Subquery(rows.values_list(Sum("amount_cents"))), 0)


def owed_cents(worker: Worker) -> int:
    """Return what a worker has earned and not been paid yet; a simulated one is owed nothing."""
    if worker.is_simulated:
        return 0
    earned = LedgerEntry.objects.filter(
        worker=worker, kind__in=[LedgerKind.REWARD, LedgerKind.BONUS]
    )
    paid = Payout.objects.filter(worker=worker)
    return _total(earned) - _total(paid)


def _total(rows: object) -> int:
    return rows.aggregate(total=Sum("amount_cents"))["total"] or 0  # type: ignore[attr-defined]


EARNED = (LedgerKind.REWARD, LedgerKind.BONUS)


@dataclass(frozen=True)
class AccountDifference:
    """By how many cents an account has more than its ledger, and holds more than its HITs do."""

    requester_id: int
    name: str
    ledger: int
    held: int


def account_differences() -> list[AccountDifference]:
    """Return every difference; three queries. What changes meanwhile may show as one for once."""
    sums = LedgerEntry.objects.filter(requester__isnull=False).order_by()
    entered = {
        (requester, kind): cents
        for requester, kind, cents in sums.values_list("requester_id", "kind").annotate(
            cents=Sum("amount_cents")
        )
    }
    held_by_hits = HIT.objects.filter(held_cents__gt=0).order_by().values_list("requester_id")
    holding = dict(held_by_hits.annotate(cents=Sum("held_cents")))
    found = []
    for row in Requester.objects.all():
        earned = sum(entered.get((row.pk, kind), 0) for kind in EARNED)
        credit = entered.get((row.pk, LedgerKind.CREDIT), 0)
        has = row.balance_cents + row.held_cents + earned
        held = row.held_cents - holding.get(row.pk, 0)
        if has != credit or held:
            found.append(AccountDifference(row.pk, row.name, has - credit, held))
    return found
