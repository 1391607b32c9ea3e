"""The places of a replay: the units of the log, made when first taken, and their HITs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from annotation.release.log import AssignmentLine, Log, LogError
from annotation.release.write_log import units_of
from collector.models import Collection, Seed, Stage, StageState
from collector.protocols.creation import parameters_of
from collector.protocols.parameters import StageTable
from tasks import hits
from tasks.ledger import budget
from tasks.lifecycle.publication import publish
from tasks.models import LeaseState, Posting, PostingState, Question, Topic, Unit
from tasks.work.kinds.registry import kind_of
from tasks.work.units import add_topics, create_unit


class ReplayedPlaces:
    """Opens the places of one collection in the order of its log."""

    def __init__(self, collection: Collection, log: Log) -> None:
        self.collection, self.log = collection, log
        self._units = {name: pk for pk, name, _ in units_of(collection)}

    def stage(self, name: str) -> Stage:
        """Return the stage, open; raises what publishing raises."""
        stage = Stage.objects.select_related("collection").get(
            collection=self.collection, name=name
        )
        if stage.state != StageState.OPEN:
            publish(self.collection, name)
            # Work that was asked for again had raised the maximum; the log does not say so.
            Collection.objects.filter(pk=self.collection.pk).update(maximum_cents=None)
            stage = Stage.objects.select_related("collection").get(pk=stage.pk)
        return stage

    def unit(self, one: AssignmentLine, stage: Stage) -> Unit:
        """Return the assignment's unit, as the log composes it; raises LogError."""
        line = self.log.units[one.unit]
        table = parameters_of(self.collection).stages()[stage.name]
        if kind_of(table).pairs_workers:
            return self._ticket(stage, table, line.redundancy)
        if one.unit not in self._units:
            items = self._items(line.items, from_seeds=table.items_from == "seeds")
            with transaction.atomic():
                self._units[one.unit] = create_unit(stage, items, line.redundancy).pk
        return Unit.objects.get(pk=self._units[one.unit])

    def _ticket(self, stage: Stage, table: StageTable, redundancy: int) -> Unit:
        """Return a ticket that nobody has, once every seed of the stage can be talked about."""
        with transaction.atomic():
            add_topics(stage, table)
            free = stage.units.filter(closed=False, taken=0, submitted=0).order_by("position")
            return free.first() or create_unit(stage, [], redundancy)

    def vacant_hit(self, one: AssignmentLine, stage: Stage) -> str:
        """Return the id of a HIT of the stage that nobody holds, published where there is none.

        Raises LogError where the budget allows none.
        """
        free = (
            Posting.objects.filter(
                stage=stage,
                state=PostingState.LIVE,
                worker__isnull=True,
                reward_cents=one.reward_cents,
            )
            .exclude(sessions__leases__state=LeaseState.LIVE)
            .order_by("id")
        )
        if not free.exists():
            # One more, whatever is up: of what there was then, the log's next units, and rounds
            # that closed HITs of another reward, are not here.
            hits.plan_postings(stage, timezone.now(), wanted=1)
            # Rewards may have changed since: this HIT gets the reward that it had.
            for planned in stage.postings.filter(state=PostingState.PUBLISHING):
                reprice(planned, one.reward_cents)
            hits.publish_pending(stage, timezone.now())
        posting = free.first()
        if posting is None:
            raise LogError(
                f"No HIT of the stage {stage.name!r} can be published: is the budget used up?"
            )
        return posting.external_id

    def _items(self, keys: list[str], *, from_seeds: bool) -> list[Any]:
        seeds = Seed.objects.filter(collection=self.collection)
        questions = Question.objects.filter(stage__collection=self.collection)
        rows: Any = (seeds if from_seeds else questions).filter(key__in=keys)
        found = {item.key: item for item in rows}
        missing = [key for key in keys if key not in found]
        if missing:
            raise LogError(f"Nobody has made {missing[0]!r} at that time: the log is not whole.")
        return [found[key] for key in keys]


def reprice(posting: Posting, reward_cents: int) -> None:
    """Let a planned HIT pay this, and hold the money for it; raises LogError without enough."""
    collection = posting.stage.collection
    cost = reward_cents + budget.fee_cents(reward_cents, parameters_of(collection).pay)
    with transaction.atomic():
        if not budget.reserve(collection.pk, cost - posting.reserved_cents):
            raise LogError(f"The budget of {collection.slug!r} does not suffice for another HIT.")
        posting.reward_cents, posting.reserved_cents = reward_cents, cost
        posting.save(update_fields=["reward_cents", "reserved_cents"])


@contextmanager
def only(stage: Stage, unit: Unit | None) -> Iterator[None]:
    """Let nobody take another unit of the stage than this one meanwhile; with None none at all."""
    others = stage.units.filter(closed=False)
    if unit is not None:
        others = others.exclude(pk=unit.pk)
    closed = list(others.values_list("pk", flat=True))
    Unit.objects.filter(pk__in=closed).update(closed=True)
    try:
        yield
    finally:
        Unit.objects.filter(pk__in=closed).update(closed=False)


@contextmanager
def with_topics(stage: Stage) -> Iterator[None]:
    """Let every section of a stage of dialogs be talked about once more meanwhile.

    A replayed dialog begins as soon as both partners have come. Others may have come before it
    began, when its section was free still, and took a ticket for it.
    """
    topics = Topic.objects.filter(stage=stage)
    topics.update(wanted=F("wanted") + 1)
    try:
        yield
    finally:
        topics.update(wanted=F("wanted") - 1)
