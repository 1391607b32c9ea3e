"""A collection's money at a glance: the budget and what is bound of it, at most and expected."""

from dataclasses import dataclass

from django.db.models import F, Q, Sum

from annotation.dashboard.bars import Segment, segments
from collector.models import Collection, CollectionState
from tasks.costs.estimates import Totals
from tasks.models import Payment, PaymentState

CENTS = F("amount_cents") + F("fee_cents")


@dataclass(frozen=True)
class Spending:
    """Cents, fees included. Owed, refused and confirmed are spent; reserved can still be earned."""

    budget: int
    reserved: int
    owed: int
    confirmed: int
    refused: int
    maximum: int
    repeats: int
    expected: int

    @property
    def free(self) -> int:
        """Return what is not bound yet."""
        return self.budget - self.reserved - self.spent

    @property
    def spent(self) -> int:
        """Return what workers have earned, paid or not."""
        return self.owed + self.refused + self.confirmed

    @property
    def shortfall(self) -> int:
        """Return what the budget lacks for the maximum total."""
        return max(0, self.maximum - self.budget)

    @property
    def bar(self) -> list[Segment]:
        """Return the budget's bar."""
        names = ("confirmed", "owed", "refused", "reserved")
        return segments([(name, getattr(self, name)) for name in names], self.budget)


def spending_of(collection: Collection, whole: Totals) -> Spending:
    """Return the collection's money; one query beside the estimates."""
    bound = collection.reserved_cents + collection.spent_cents
    ledger = Payment.objects.filter(collection=collection).aggregate(
        confirmed=Sum(CENTS, filter=Q(state=PaymentState.CONFIRMED), default=0),
        refused=Sum(CENTS, filter=Q(state=PaymentState.REFUSED), default=0),
    )
    if collection.state == CollectionState.FINISHED:
        # Nothing more is handed out.
        maximum = expected = bound
    else:
        maximum, expected = whole.maximum, whole.expected
    return Spending(
        budget=collection.budget_cents,
        reserved=collection.reserved_cents,
        owed=collection.spent_cents - ledger["confirmed"] - ledger["refused"],
        confirmed=ledger["confirmed"],
        refused=ledger["refused"],
        maximum=maximum,
        repeats=whole.repeats if collection.state == CollectionState.DRAFT else 0,
        expected=expected,
    )
