"""What the marketplace's processes count and its rows say, for Prometheus."""

from collections.abc import Iterator

from django.db.models import Count, Min, Sum
from django.http import HttpRequest, HttpResponse

from common.metrics import Row, RowMetrics, metrics_of, metrics_page, seconds_since
from marketplace import clock
from marketplace.funds import EARNED, account_differences
from marketplace.models import Assignment, AssignmentState, Event, LedgerEntry, Payout

SITE = metrics_of("marketplace")
call_seconds = SITE.timing("call_seconds", "Calls of the requester API", ("operation", "status"))
# What is summed up is every entry of the ledger.
LEDGER_KEPT_SECONDS = 300.0
OPEN = (AssignmentState.ACCEPTED, AssignmentState.SUBMITTED)
SIMULATED = ("synthetic",)


def metrics(request: HttpRequest) -> HttpResponse:
    """Return the marketplace's metrics to a client that knows the token."""
    return metrics_page(request, SITE.name)


def assignments() -> Iterator[Row]:
    """Yield what workers are at, and what they have handed in that nobody has decided."""
    rows = Assignment.objects.filter(state__in=OPEN).order_by()
    counted = rows.values_list("state", "worker__is_simulated").annotate(n=Count("pk"))
    found = {(state, simulated): number for state, simulated, number in counted}
    for state in OPEN:
        for simulated, word in ((False, "no"), (True, "yes")):
            yield (str(state), word), (found.get((state, simulated), 0),)


def events() -> Iterator[Row]:
    """Yield the events that have not been delivered, and for how long the oldest has waited."""
    found = Event.objects.filter(next_attempt_at__isnull=False, queue=None).aggregate(
        n=Count("pk"), at=Min("created_at")
    )
    yield (), (found["n"], seconds_since(found["at"], clock.real_now()))


def money() -> Iterator[Row]:
    """Yield what people have earned and were not paid, and by how much the books differ.

    Simulated workers are owed nothing.
    """
    people = {"worker__is_simulated": False}
    earned = LedgerEntry.objects.filter(kind__in=EARNED, **people)
    cents = earned.aggregate(all=Sum("amount_cents", default=0))["all"]
    cents -= Payout.objects.filter(**people).aggregate(all=Sum("amount_cents", default=0))["all"]
    found = account_differences()
    yield (), (cents, sum(abs(row.ledger) + abs(row.held) for row in found))


METRICS = (
    RowMetrics({"assignments": "Work under way or undecided"}, ("state", *SIMULATED), assignments),
    RowMetrics(
        {
            "events_waiting": "Events not delivered yet",
            "events_oldest_seconds": "For how long the oldest of them has waited",
        },
        (),
        events,
    ),
    RowMetrics(
        {
            "owed_cents": "Earned by people and not paid out",
            "ledger_difference_cents": "Between requesters' accounts and the ledger",
        },
        (),
        money,
        LEDGER_KEPT_SECONDS,
    ),
)
