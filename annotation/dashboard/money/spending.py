"""A collection's money in short: how much of the budget is used, and what an hour of work pays."""

from dataclasses import dataclass
from statistics import median

from django.db.models import Case, F, IntegerField, OuterRef, Q, Subquery, Sum, When
from django.db.models.functions import Coalesce

from annotation.dashboard.lists import Segment, segments
from annotation.reports.pay import SHORTEST_SECONDS
from collector.models import Collection, CollectionState, Stage
from collector.protocols.parameters import Parameters
from tasks.costs import Totals
from tasks.models import Payment, PaymentKind, PaymentState

CENTS = F("amount_cents") + F("fee_cents")
# Only the newest submissions are read: they show today's pace, and the page stays fast.
NEWEST = 500


@dataclass(frozen=True)
class Spending:
    """Amounts of a collection in cents, fees included.

    Owed, refused and confirmed amounts are spent. Reserved amounts can still be earned.
    """

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
        """Return the part of the budget that is neither reserved nor spent."""
        return self.budget - self.reserved - self.spent

    @property
    def spent(self) -> int:
        """Return what workers have earned, paid or not."""
        return self.owed + self.refused + self.confirmed

    @property
    def shortfall(self) -> int:
        """Return how much the budget is below the maximum total; 0 if it is enough."""
        return max(0, self.maximum - self.budget)

    @property
    def bar(self) -> list[Segment]:
        """Return the segments of the bar that shows the budget."""
        names = ("confirmed", "owed", "refused", "reserved")
        return segments([(name, getattr(self, name)) for name in names], self.budget)


def spending_of(collection: Collection, whole: Totals) -> Spending:
    """Return the collection's money, in one query; whole: the estimated totals."""
    bound = collection.reserved_cents + collection.spent_cents
    ledger = Payment.objects.filter(collection=collection).aggregate(
        confirmed=Sum(CENTS, filter=Q(state=PaymentState.CONFIRMED), default=0),
        refused=Sum(CENTS, filter=Q(state=PaymentState.REFUSED), default=0),
    )
    if collection.state == CollectionState.FINISHED:
        # No more work is given out, so nothing more will be reserved.
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


@dataclass(frozen=True)
class Pace:
    """The median time and hourly pay of a stage's newest submissions.

    The pay includes bonuses, but no fees. Rejected work counts with its time and without pay.
    `cents_per_hour` is None if the time is no measure of work: only simulated workers have done
    the stage (`simulated`), or the median is too short.
    """

    submissions: int
    seconds: float
    cents_per_hour: int | None
    below_floor: bool
    simulated: bool

    @property
    def minutes(self) -> str:
        """Return the median time as text, in seconds or in minutes."""
        if self.seconds < 60:
            return f"{self.seconds:.0f} s"
        return f"{self.seconds / 60:.0f} min"


def pace_of(stage: Stage, parameters: Parameters) -> Pace | None:
    """Return the stage's pace, in one query; None before the first submission."""
    bonuses = (
        Payment.objects.filter(kind=PaymentKind.BONUS, lease=OuterRef("submission__lease"))
        .exclude(state=PaymentState.WITHHELD)
        .order_by()
        .values("lease")
        .annotate(cents=Sum("amount_cents"))
        .values("cents")
    )
    rows = list(
        # Simulated work counts even if it took no active time.
        Payment.objects.filter(
            Q(submission__active_seconds__gt=0) | Q(submission__synthetic=True),
            stage=stage,
            kind=PaymentKind.REWARD,
        )
        .order_by("-id")
        # Rejected work took time, but earns nothing.
        .annotate(
            reward=Case(
                When(state=PaymentState.WITHHELD, then=0),
                default="amount_cents",
                output_field=IntegerField(),
            )
        )
        .annotate(
            earned_cents=F("reward") + Coalesce(Subquery(bonuses, output_field=IntegerField()), 0)
        )
        .values_list("earned_cents", "submission__active_seconds", "submission__synthetic")[:NEWEST]
    )
    people = [row for row in rows if not row[2]]
    measured = people or rows
    if not measured:
        return None
    seconds = median(row[1] for row in measured)
    hourly = None
    if people and seconds >= SHORTEST_SECONDS:
        hourly = int(median(row[0] for row in measured) * 3600 / seconds)
    return Pace(
        submissions=len(measured),
        seconds=seconds,
        cents_per_hour=hourly,
        below_floor=hourly is not None and hourly < parameters.pay.floor_cents_per_hour,
        simulated=not people,
    )
