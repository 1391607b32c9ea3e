"""Compares budgets with the rows they sum up, and brings a budget back to them.

Both change in one transaction, so they differ only where a row was changed by hand, or something
is wrong.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import F, Q, QuerySet, Sum

from collector.models import Collection
from tasks.models import BonusFund, Dialog, Lease, Payment, PaymentState, Posting, Ticket

COST = F("amount_cents") + F("fee_cents")
LEFT = F("held_cents") - F("paid_cents")


@dataclass(frozen=True)
class BookDifference:
    """By how many cents a budget says that more was spent, and is held, than its rows say."""

    collection_id: int
    slug: str
    spent: int
    reserved: int


def differences(collections: "QuerySet[Collection] | None" = None) -> list[BookDifference]:
    """Return every difference; six queries. What changes meanwhile may show as one for once."""
    rows = Collection.objects.all() if collections is None else collections
    known = rows.in_bulk()
    spent, held = _spent(known), _held(known)
    # Asked last, so that what somebody earns meanwhile is in none of the sums before.
    found = [
        BookDifference(
            each.pk,
            each.slug,
            each.spent_cents - spent[each.pk],
            each.reserved_cents - held[each.pk],
        )
        for each in known.values()
    ]
    return [each for each in found if each.spent or each.reserved]


def mend(difference: BookDifference) -> None:
    """Let a budget say what its rows say.

    Raises IntegrityError where that is more than the budget: somebody has to raise it first.
    """
    with transaction.atomic():
        rows = Collection.objects.select_for_update(no_key=True).filter(pk=difference.collection_id)
        for now in differences(rows):
            rows.update(
                spent_cents=F("spent_cents") - now.spent,
                reserved_cents=F("reserved_cents") - now.reserved,
            )


def _spent(known: dict[int, Collection]) -> Counter[int]:
    paid = Payment.objects.filter(collection__in=known).exclude(state=PaymentState.WITHHELD)
    return _sums(paid, "collection_id", COST)


def _held(known: dict[int, Collection]) -> Counter[int]:
    held, holds = F("reserved_cents"), Q(reserved_cents__gt=0)
    queries: tuple[tuple[QuerySet[Any], str, object], ...] = (
        (Posting.objects.filter(holds), "stage__collection_id", held),
        (Lease.objects.filter(holds), "unit__stage__collection_id", held),
        (Ticket.objects.filter(holds), "stage__collection_id", held),
        (Dialog.objects.filter(holds, settled=False), "stage__collection_id", held),
        (BonusFund.objects.all(), "stage__collection_id", LEFT),
    )
    found: Counter[int] = Counter()
    for rows, owner, cents in queries:
        found += _sums(rows.filter(**{f"{owner}__in": known}), owner, cents)
    return found


def _sums(rows: QuerySet[Any], owner: str, cents: object) -> Counter[int]:
    summed = rows.order_by().values_list(owner).annotate(cents=Sum(cents))
    return Counter(dict(summed))
