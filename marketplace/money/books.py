"""Compares requesters' accounts with the ledger: credits = free + held + rewards + bonuses."""

from dataclasses import dataclass

from django.db.models import Sum

from marketplace.models import HIT, LedgerEntry, LedgerKind, Requester

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
