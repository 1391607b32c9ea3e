"""When the jobs look at a collection next: work costs what there is to do.

`Collection.look_at` tells it. Whatever happens to a collection wakes it; a round that did something
is followed by another at once, and one that found nothing by a pause as long as what is open can
wait.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from collector.models import Collection, CollectionState
from collector.models.collection import LONGEST_CLAIM
from collector.protocols.creation import is_readable, parameters_of
from common.prepared_sql import change
from common.wrong_clocks import expired
from tasks.ledger.lease_reserves import unpaid_leases
from tasks.ledger.performance_bonuses import bonuses_of, uncounted
from tasks.models import (
    Lease,
    LeaseState,
    Payment,
    PaymentState,
    Posting,
    PostingState,
    ReceiptState,
    Session,
    Submission,
)

# A round that died is made up for after this.
ROUND = timedelta(seconds=2.5)
# What just happened is followed up at once, and less often the longer nothing comes of it.
SHORTEST = timedelta(seconds=2)
WHILE_HANDED_IN = timedelta(seconds=15)
# A worker may leave without a word; that is asked about now and then.
WHILE_AT_WORK = timedelta(seconds=15)
# Some things happen at the marketplace alone: HITs handed in empty, decided, or run out.
WHILE_COLLECTING = timedelta(minutes=5)
WHILE_AT_REST = timedelta(hours=6)
WAKE = """
UPDATE collector_collection SET look_at = %(now)s
WHERE id = %(collection)s AND state <> 'draft' AND (look_at IS NULL OR look_at > %(now)s)
"""


def wake(collection_id: int) -> None:
    """Have the jobs look at the collection next time; costs nothing where they will anyway."""
    change(WAKE, collection=collection_id, now=timezone.now())


def wake_all() -> None:
    """Have the jobs look at every collection next time."""
    now = timezone.now()
    rows = Collection.objects.exclude(state=CollectionState.DRAFT)
    rows.exclude(look_at__lte=now).update(look_at=now)


def due(now: datetime) -> list[int]:
    """Return the ids of the collections to look at now, save those that somebody is at; one query.

    Drafts have nothing to look after.
    """
    return list(due_rows(now, *latest(now)).values_list("pk", flat=True))


def latest(now: datetime) -> tuple[datetime, datetime, datetime]:
    """Return until when a collection that is collecting, and any other, can be put off at most.

    And until when one can be claimed, by a clock that is ahead by as much as a claim is long.
    """
    return now + WHILE_COLLECTING, now + WHILE_AT_REST, now + 2 * LONGEST_CLAIM


def due_rows(
    now: datetime, latest_collecting: datetime, latest_at_rest: datetime, latest_claim: datetime
) -> QuerySet[Collection]:
    """Return what finds the collections that are due.

    What is put off for longer than anything is was so by a clock that was ahead, and is due.
    """
    never = Q(look_at__isnull=True, state=CollectionState.COLLECTING)
    ahead = Q(look_at__gt=latest_at_rest)
    ahead |= Q(look_at__gt=latest_collecting, state=CollectionState.COLLECTING)
    free = Q(maintained_until__isnull=True) | expired("maintained_until", now, latest_claim)
    rows = Collection.objects.exclude(state=CollectionState.DRAFT).filter(free)
    return rows.filter(never | ahead | Q(look_at__lte=now))


def look_after(collection: Collection, now: datetime, round_of: Callable[[], bool]) -> None:
    """Run a round and note when the next is due; what happens meanwhile makes it due at once.

    round_of: returns whether it did anything, or could not look.
    """
    rows, until = Collection.objects.filter(pk=collection.pk), now + ROUND
    rows.update(look_at=until)
    after = now if round_of() else now + _pause(collection, now)
    rows.filter(look_at=until).update(look_at=after)


def _pause(collection: Collection, now: datetime) -> timedelta:
    """Return how long a collection with nothing to do now can be left alone."""
    work = Submission.objects.filter(lease__unit__stage__collection=collection)
    open_work = work.filter(state__in=[ReceiptState.HELD, ReceiptState.APPROVING])
    newest = open_work.order_by("-received_at").values_list("received_at", flat=True).first()
    if newest is not None:
        return _rarer(now - newest, WHILE_HANDED_IN)
    leases = Lease.objects.filter(unit__stage__collection=collection, state=LeaseState.LIVE)
    if leases.exists():
        return WHILE_AT_WORK
    # What the marketplace refuses to put up for want of something, it may have in a moment.
    refused = Posting.objects.filter(stage__collection=collection, state=PostingState.PUBLISHING)
    planned = refused.order_by("-created_at").values_list("created_at", flat=True).first()
    if planned is not None:
        return _rarer(now - planned, WHILE_COLLECTING)
    if collection.state == CollectionState.COLLECTING or not is_readable(collection):
        came = Session.objects.filter(posting__stage__collection=collection).order_by("-pk")
        latest = came.values_list("started_at", flat=True).first()
        return _rarer(now - latest, WHILE_COLLECTING) if latest else WHILE_COLLECTING
    tables = parameters_of(collection).stages()
    unsettled = (
        work.filter(state__in=[ReceiptState.CONFIRMED, ReceiptState.DISPUTED]),
        Payment.objects.filter(collection=collection, state=PaymentState.DUE),
        # Neither is paid at once: late work is awaited first, a bonus has hours of waiting.
        unpaid_leases(collection),
        *(uncounted(stage) for stage in collection.stages.all() if bonuses_of(tables[stage.name])),
        Posting.objects.filter(
            stage__collection=collection, state__in=[PostingState.PUBLISHING, PostingState.LIVE]
        ),
    )
    return WHILE_COLLECTING if any(rows.exists() for rows in unsettled) else WHILE_AT_REST


def _rarer(since: timedelta, longest: timedelta) -> timedelta:
    return min(longest, max(SHORTEST, since / 4))
