"""Holds money before anyone can earn it, and compares each budget with the rows it sums up."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from django.db import transaction
from django.db.models import F, Q, QuerySet, Sum
from django.utils import timezone

from collector.models import Collection
from collector.protocols.parameters import PayTable
from common.prepared_sql import Statements, change
from tasks.models import BonusFund, Dialog, Lease, Payment, PaymentState, Posting, Ticket

RESERVE = """
UPDATE collector_collection SET reserved_cents = reserved_cents + %(cents)s
WHERE id = %(collection)s AND reserved_cents + spent_cents + %(cents)s <= budget_cents
AND (maximum_cents IS NULL OR reserved_cents + spent_cents + %(cents)s <= maximum_cents)
"""
EARN = """
UPDATE collector_collection
SET reserved_cents = reserved_cents - %(reserved)s, spent_cents = spent_cents + %(cost)s,
    look_at = %(now)s
WHERE id = %(collection)s
"""
PAYMENT_COST = F("amount_cents") + F("fee_cents")
FUND_LEFT = F("held_cents") - F("paid_cents")


def fee_cents(amount_cents: int, pay: PayTable) -> int:
    """Return the provider's fee on one payment, rounded half up, never below the minimum."""
    share = Decimal(amount_cents) * pay.fee_percent / 100
    return max(pay.min_fee_cents, int(share.quantize(Decimal(1), ROUND_HALF_UP)))


def reserve(collection_id: int, cents: int) -> bool:
    """Hold `cents`; returns False, holding nothing, when that passes the budget or the maximum.

    The maximum is what the collection was said to cost at most when it was published.
    """
    return change(RESERVE, collection=collection_id, cents=cents) == 1


def reserve_beside(collection_id: int, cents: int) -> bool:
    """Hold `cents` that a person adds to what the collection costs; False, as `reserve`."""
    wanted = F("reserved_cents") + F("spent_cents") + cents
    return (
        Collection.objects.filter(pk=collection_id, budget_cents__gte=wanted).update(
            reserved_cents=F("reserved_cents") + cents, maximum_cents=F("maximum_cents") + cents
        )
        == 1
    )


def hold_for_work_done(collection_id: int, cents: int, by: str, now: datetime) -> bool:
    """Hold money for work that was done, also past the maximum; False above the budget.

    Expects a transaction; locks the collection past the maximum. The maximum that it raises shows
    in the changes, with what it came `by`.
    """
    if reserve(collection_id, cents):
        return True
    row = Collection.objects.select_for_update(no_key=True).get(pk=collection_id)
    if row.reserved_cents + row.spent_cents + cents > row.budget_cents:
        return False
    hold_anyway(collection_id, cents, by, now)
    return True


def hold_anyway(
    collection_id: int, cents: int, by: str, now: datetime, *, beside: bool = False
) -> None:
    """Hold money that is owed or was paid whatever the caps say.

    Expects a transaction; locks the collection past a cap. The overrun shows in the budget's and
    the maximum's changes, with what it came `by`. beside: what the collection was said to cost at
    most grows by it in any case.
    """
    hold = reserve_beside if beside else reserve
    if hold(collection_id, cents):
        return
    raised = Collection.objects.select_for_update(no_key=True).get(pk=collection_id)
    wanted = raised.reserved_cents + raised.spent_cents + cents
    for cap in ("budget_cents", "maximum_cents"):
        old = getattr(raised, cap)
        # Somebody may have raised it since; and `beside` raises the maximum itself.
        if old is not None and wanted > old and not (beside and cap == "maximum_cents"):
            raised.revisions.create(key=cap, old=old, new=wanted, by=by, at=now)
            setattr(raised, cap, wanted)
    raised.save(update_fields=["budget_cents", "maximum_cents"])
    hold(collection_id, cents)


def release(collection_id: int, cents: int) -> None:
    """Give back `cents` that nobody can earn any more."""
    Collection.objects.filter(pk=collection_id).update(reserved_cents=F("reserved_cents") - cents)


def give_back(collection_id: int, cents: int) -> None:
    """Free `cents` that were spent and are owed no more."""
    Collection.objects.filter(pk=collection_id).update(spent_cents=F("spent_cents") - cents)


def give_back_beside(collection_id: int, cents: int) -> None:
    """Free `cents` that were added to what the collection costs, and are owed no more."""
    Collection.objects.filter(pk=collection_id).update(
        spent_cents=F("spent_cents") - cents, maximum_cents=F("maximum_cents") - cents
    )


def earn(
    collection_id: int, *, reserved_cents: int, cost_cents: int, before: Statements = ()
) -> None:
    """Turn a reservation into money spent; both change in one statement.

    before: what is sent with it and runs before. The jobs look at once after whom it is owed (see
    tasks.work.due_work).
    """
    change(
        EARN,
        before=before,
        collection=collection_id,
        reserved=reserved_cents,
        cost=cost_cents,
        now=timezone.now(),
    )


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
    return _sums(paid, "collection_id", PAYMENT_COST)


def _held(known: dict[int, Collection]) -> Counter[int]:
    held, holds = F("reserved_cents"), Q(reserved_cents__gt=0)
    queries: tuple[tuple[QuerySet[Any], str, object], ...] = (
        (Posting.objects.filter(holds), "stage__collection_id", held),
        (Lease.objects.filter(holds), "unit__stage__collection_id", held),
        (Ticket.objects.filter(holds), "stage__collection_id", held),
        (Dialog.objects.filter(holds, settled=False), "stage__collection_id", held),
        (BonusFund.objects.all(), "stage__collection_id", FUND_LEFT),
    )
    found: Counter[int] = Counter()
    for rows, owner, cents in queries:
        found += _sums(rows.filter(**{f"{owner}__in": known}), owner, cents)
    return found


def _sums(rows: QuerySet[Any], owner: str, cents: object) -> Counter[int]:
    summed = rows.order_by().values_list(owner).annotate(cents=Sum(cents))
    return Counter(dict(summed))
