"""Holds money before anyone can earn it: one conditional update on the collection's row."""

from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal

from django.db.models import F
from django.utils import timezone

from collector.models import Collection
from collector.protocols.parameters import PayTable
from common.prepared_sql import Statements, change

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
