"""Whom a stage has work for: known before its HITs are listed, and told to the marketplace.

A worker is unknown here until they enter a HIT for the first time: then nothing is in their way.
What keeps them out later (they have written or seen what is left, have done what is done once, do
not agree to the consent text, are given no more work) the marketplace cannot know. It is told by a
qualification that workers hold whom the stage has nothing for, and that its HITs are not shown to.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256

from django.db import transaction
from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet, Sum

from collector.models import Collection, CollectionState, Stage, StageState
from collector.protocols.creation import current_text, is_readable, parameters_of
from common.prepared_sql import PreparedQuery
from tasks.crowd import marketplace
from tasks.crowd.requester_api import MarketplaceError
from tasks.models import (
    Consent,
    Eligibility,
    Grant,
    GrantState,
    Lease,
    LeaseState,
    Session,
    Topic,
    Unit,
    Worker,
)
from tasks.people import qualifications
from tasks.work.kinds.registry import kind_of
from tasks.work.leases import has_suitable

log = logging.getLogger(__name__)
DONE = PreparedQuery(
    lambda stage, worker: (
        Lease.objects.filter(worker=worker, unit__stage=stage, state=LeaseState.SUBMITTED)
        .order_by()
        .values_list("pk")[:1]
    ),
    stage=int,
    worker=str,
)


def has_work(worker: Worker, stage: Stage) -> bool:
    """Return whether the stage has a unit that it could hand to the worker now.

    What they are at already is in the way of a second one only as long as they are at it: that
    the marketplace knows by itself.
    """
    table = parameters_of(stage.collection).stages()[stage.name]
    if table.qualifies and (
        DONE.first(stage=stage.pk, worker=worker.pk) is not None
        or qualifications.has_passed(worker, stage)
    ):
        return False
    return has_suitable(stage, worker, one_at_a_time=kind_of(table).holds_one(table))


def update_eligibility(collection: Collection, stages: Sequence[Stage]) -> int:
    """Look for whom the open `stages` have work; returns for how many that has changed.

    Everybody who was ever here, was let in, or is shut out is looked at when something has changed
    of what that depends on. The collection's row says for which state of it they were looked at, so
    that all processes know alike.
    """
    if not stages:
        return 0
    row = Collection.objects.filter(pk=collection.pk)
    known = row.annotate(
        n_blocks=Count("blocks", distinct=True),
        newest_block=Max("blocks"),
        consent_text=Max("texts", filter=Q(texts__name="consent")),
    )
    names = ("looked_at_for", "n_blocks", "newest_block", "consent_text")
    looked_at_for, *blocks, text = known.values_list(*names).get()
    places = _places(stages)
    told = repr((places, blocks, text, *_changes(collection, stages, text)))
    state = sha256(told.encode()).hexdigest()
    if looked_at_for == state:
        return 0
    came = Session.objects.filter(posting__stage__collection=collection).values("worker")
    let_in = qualifications.trusted_grants(collection).values("worker")
    shut_out = Eligibility.objects.filter(stage__in=stages, is_closed=True).values("worker")
    people = Worker.objects.filter(Q(pk__in=came) | Q(pk__in=let_in) | Q(pk__in=shut_out))
    workers = people.filter(identity__isnull=False)
    with_places = [stage for stage in stages if places[stage.pk][0]]
    changed = _record(list(workers), with_places)
    # Somebody else who looked meanwhile may have written what they saw before: look again then.
    if not row.filter(looked_at_for=looked_at_for).update(looked_at_for=state):
        row.update(looked_at_for="")
    return changed


def record_eligibility(workers: Sequence[Worker], stages: Sequence[Stage]) -> int:
    """Note for whom of the workers each of the stages has work; returns how much that changed.

    What was changed is looked at once more in the next round: the work may have come meanwhile.
    """
    with transaction.atomic():
        changed = _record(workers, stages)
        if changed:
            Collection.objects.filter(pk=stages[0].collection_id).update(looked_at_for="")
    return changed


def _record(workers: Sequence[Worker], stages: Sequence[Stage]) -> int:
    if not workers or not stages:
        return 0
    collection = stages[0].collection
    declined = set(
        Consent.objects.filter(
            text=current_text(collection, "consent"), agreed=False, worker__in=workers
        ).values_list("worker", flat=True)
    )
    known = {
        (stage, worker): is_closed
        for stage, worker, is_closed in Eligibility.objects.filter(
            stage__in=stages, worker__in=workers
        ).values_list("stage", "worker", "is_closed")
    }
    changed = 0
    for stage in stages:
        for worker in workers:
            is_closed = worker.pk in declined or not has_work(worker, stage)
            if known.get((stage.pk, worker.pk), False) != is_closed:
                Eligibility.objects.update_or_create(
                    stage=stage, worker=worker, defaults={"is_closed": is_closed}
                )
                changed += 1
    return changed


def tell_marketplace(collection: Collection) -> int:
    """Tell the marketplace what it does not know yet; returns how much that was."""
    return _tell(Eligibility.objects.filter(stage__collection=collection))


def waiting_for_others(collections: Iterable[Collection]) -> list[Stage]:
    """Return the open stages with free places that nobody may take who was here or was let in.

    Tests that open others are none of them: who has passed has nothing left to do there. One
    query, whatever the number of collections.
    """
    closed = Eligibility.objects.filter(stage=OuterRef(OuterRef("pk")), is_closed=True)
    is_free = ~Q(worker__in=closed.values("worker"))
    came = Session.objects.filter(
        posting__stage__collection=OuterRef("collection"), worker__identity__isnull=False
    )
    let_in = Grant.objects.filter(
        qualification__stage__collection=OuterRef("collection"),
        is_let_in=True,
        state=GrantState.GRANTED,
    )
    places = Unit.objects.filter(stage=OuterRef("pk"), closed=False, taken__lt=F("redundancy"))
    stages = Stage.objects.filter(
        Exists(places),
        Exists(came),
        ~Exists(came.filter(is_free)),
        ~Exists(let_in.filter(is_free)),
        state=StageState.OPEN,
        collection__state=CollectionState.COLLECTING,
        collection__in=collections,
    )
    return [one for one in stages.select_related("collection") if not _is_test(one)]


def _is_test(stage: Stage) -> bool:
    # Nobody gets work of a protocol that cannot be read.
    if not is_readable(stage.collection):
        return True
    return parameters_of(stage.collection).stages()[stage.name].qualifies


def close_for_now(worker: Worker, stage: Stage) -> None:
    """Keep the stage's HITs from being offered again at once to one who came in vain.

    A marketplace that does not answer is told in the next round. Expects no transaction.
    """
    record_eligibility([worker], [stage])
    try:
        _tell(Eligibility.objects.filter(stage=stage, worker=worker))
    except MarketplaceError as error:
        log.warning("Nobody can be told for whom there is work: %s", error)


def _tell(rows: QuerySet[Eligibility]) -> int:
    untold = rows.filter(worker__identity__isnull=False).exclude(is_closed=F("told_closed"))
    return marketplace.one_by_one(
        untold.select_related("worker__identity", "stage__collection"), _tell_one
    )


def _tell_one(row: Eligibility) -> int:
    closed = qualifications.closed_id(row.stage)
    person = row.worker.identity.person
    if row.is_closed:
        marketplace.grant(closed, person, silently=True)
    else:
        marketplace.revoke(closed, person, "There is work for you again.")
    return Eligibility.objects.filter(pk=row.pk).update(told_closed=row.is_closed)


def _places(stages: Sequence[Stage]) -> dict[int, tuple[int, ...]]:
    """Return by stage how many units have a free place, and the sum of their ids."""
    units = Unit.objects.filter(stage__in=stages, closed=False, taken__lt=F("redundancy"))
    counted = units.order_by().values_list("stage").annotate(free=Count("pk"), which=Sum("pk"))
    return {stage.pk: (0, 0) for stage in stages} | {stage: (n, ids) for stage, n, ids in counted}


def _changes(
    collection: Collection, stages: Sequence[Stage], consent_text: int
) -> Iterator[dict[str, object]]:
    """Yield numbers that change with whatever else decides for whom there is work."""
    # A lease never comes back to a state that it had.
    yield Lease.objects.filter(unit__stage__in=stages).aggregate(
        newest=Max("pk"),
        live=Count("pk", filter=Q(state=LeaseState.LIVE)),
        submitted=Count("pk", filter=Q(state=LeaseState.SUBMITTED)),
        paid=Count("pk", filter=Q(paid=True)),
    )
    yield Consent.objects.filter(text=consent_text).aggregate(
        declined=Count("pk", filter=Q(agreed=False)), last=Max("at")
    )
    granted = Q(state=GrantState.GRANTED)
    yield Grant.objects.filter(qualification__stage__collection=collection).aggregate(
        n=Count("pk"), granted=Count("pk", filter=granted), last=Max("decided_at")
    )
    if any(kind_of(stage).pairs_workers for stage in stages):
        yield Topic.objects.filter(stage__in=stages).aggregate(
            which=Sum("pk", filter=Q(taken__lt=F("wanted"))), taken=Sum("taken")
        )
