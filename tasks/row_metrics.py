"""What the rows of workers' side say to an operator: one cheap query for each group of numbers."""

from collections.abc import Iterator

from django.db.models import Count, Min, Sum
from django.utils import timezone

from collector.models import CollectionState
from common.metrics import SYNTHETIC, Row, RowMetrics, seconds_since
from tasks.ledger.budget import differences
from tasks.models import (
    Dialog,
    DialogState,
    Lease,
    LeaseState,
    Payment,
    PaymentState,
    Posting,
    PostingState,
    ReceiptState,
    Submission,
    Ticket,
    TicketState,
)

# What is compared looks at every payment there is.
BOOKS_KEPT_SECONDS = 300.0
OPEN_WORK = (
    *(ReceiptState.HELD, ReceiptState.CONFIRMED, ReceiptState.APPROVING),
    ReceiptState.DISPUTED,
)


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def leases() -> Iterator[Row]:
    """Yield who is at work."""
    rows = Lease.objects.filter(state=LeaseState.LIVE).order_by().values_list("worker__synthetic")
    found = dict(rows.annotate(n=Count("pk")))
    for synthetic in (False, True):
        yield (_yes(synthetic),), (found.get(synthetic, 0),)


def submissions() -> Iterator[Row]:
    """Yield what was handed in and is not settled, and how long the oldest has waited."""
    now = timezone.now()
    rows = Submission.objects.filter(state__in=OPEN_WORK).order_by().values_list("state", SYNTHETIC)
    for state, synthetic, number, oldest in rows.annotate(n=Count("pk"), at=Min("received_at")):
        yield (state, _yes(synthetic)), (number, seconds_since(oldest, now))


def waiting() -> Iterator[Row]:
    """Yield who waits for a partner, and how long the first has."""
    now = timezone.now()
    rows = Ticket.objects.filter(state=TicketState.WAITING).order_by()
    counted = rows.values_list("worker__synthetic").annotate(n=Count("pk"), at=Min("waiting_since"))
    found = {synthetic: (number, oldest) for synthetic, number, oldest in counted}
    for synthetic in (False, True):
        number, oldest = found.get(synthetic, (0, None))
        yield (_yes(synthetic),), (number, seconds_since(oldest, now))


def pairs() -> Iterator[Row]:
    """Yield the dialogs that go on; one with a simulated partner is synthetic."""
    going_on = Dialog.objects.filter(settled=False).exclude(state=DialogState.OVER)
    found = {False: 0, True: 0}
    for student, teacher in going_on.values_list("student__synthetic", "teacher__synthetic"):
        found[student or teacher] += 1
    for synthetic, number in found.items():
        yield (_yes(synthetic),), (number,)


def hits() -> Iterator[Row]:
    """Yield the HITs of collections that are collecting, planned or up."""
    states = (PostingState.PUBLISHING, PostingState.LIVE)
    rows = Posting.objects.filter(
        state__in=states, stage__collection__state=CollectionState.COLLECTING
    )
    found = dict(rows.order_by().values_list("state").annotate(n=Count("pk")))
    for state in states:
        yield (state,), (found.get(state, 0),)


def money_owed() -> Iterator[Row]:
    """Yield what is owed and not confirmed yet, and since when the oldest of it is."""
    now = timezone.now()
    rows = Payment.objects.filter(state=PaymentState.DUE).order_by()
    counted = rows.values_list("worker__synthetic").annotate(
        cents=Sum("amount_cents"), at=Min("created_at")
    )
    found = {synthetic: (cents, oldest) for synthetic, cents, oldest in counted}
    for synthetic in (False, True):
        cents, oldest = found.get(synthetic, (0, None))
        yield (_yes(synthetic),), (cents, seconds_since(oldest, now))


def book_differences() -> Iterator[Row]:
    """Yield by how much budgets differ from the rows that they sum up."""
    found = differences()
    yield (), (sum(abs(row.spent) for row in found), sum(abs(row.reserved) for row in found))


METRICS = (
    RowMetrics({"leases_live": "Workers at work on a HIT"}, (SYNTHETIC,), leases),
    RowMetrics(
        {
            "submissions_open": "Work handed in and not settled",
            "submissions_oldest_seconds": "For how long the oldest of it has waited",
        },
        ("state", SYNTHETIC),
        submissions,
    ),
    RowMetrics(
        {
            "waiting": "People who wait for a partner",
            "waiting_longest_seconds": "For how long the first of them has",
        },
        (SYNTHETIC,),
        waiting,
    ),
    RowMetrics({"dialogs_live": "Dialogs that go on"}, (SYNTHETIC,), pairs),
    RowMetrics({"hits": "HITs of open collections"}, ("state",), hits),
    RowMetrics(
        {
            "money_owed_cents": "Owed to workers, not confirmed by the marketplace",
            "money_owed_oldest_seconds": "Since when the oldest of it is owed",
        },
        (SYNTHETIC,),
        money_owed,
    ),
    RowMetrics(
        {
            "spent_difference_cents": "Between budgets' spent money and the payments",
            "reserved_difference_cents": "Between budgets' held money and what holds it",
        },
        (),
        book_differences,
        BOOKS_KEPT_SECONDS,
    ),
)
