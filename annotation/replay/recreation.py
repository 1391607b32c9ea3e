"""Lays out what a log tells of: the collection with nobody's work, then each unit and its HITs."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from annotation.models import Statement
from annotation.release.log import AssignmentLine, Log, LogError, SeedLine, text_sha256
from annotation.release.write_log import units_of
from collector.models import (
    Collection,
    CollectionRevision,
    Corpus,
    Paragraph,
    Seed,
    Stage,
    StageState,
)
from collector.models.collection import LONGEST_CLAIM
from collector.protocols.creation import create_collection, parameters_of
from collector.protocols.loading import PARAMETERS, get_protocol
from collector.protocols.parameters import PeopleTable
from collector.seeds.candidate import Candidate
from collector.seeds.selection import candidates_of, is_curated, propose_sets, store_seeds
from tasks import hits
from tasks.ledger import budget
from tasks.lifecycle.publication import publish
from tasks.models import LeaseState, Posting, PostingState, Question, Topic, Unit, Worker
from tasks.work.kinds.registry import kind_of
from tasks.work.units import add_topics, create_unit

# A replay makes its own units and HITs, in the order of the log: no job does it meanwhile. It
# claims the collection anew at every step; one that died leaves it to the jobs after so long.
OWN_MAINTENANCE = LONGEST_CLAIM
SEEDS_AT_ONCE = 200


def recreate_collection(log: Log, corpus: Corpus, now: datetime) -> Collection:
    """Return the log's collection, a draft over `corpus`, with its seeds.

    Raises LogError where this database or corpus cannot hold it, ActionError for a taken name,
    ProtocolError for another version of the protocol; then nothing is left behind.
    """
    line = log.collection
    protocol = get_protocol(line.protocol)
    version = protocol.part(PARAMETERS).VERSION
    if version != line.protocol_version:
        raise LogError(
            f"The log is of version {line.protocol_version} of the protocol {line.protocol!r}, "
            f"this installation has version {version}: replay it with the other one."
        )
    if Worker.objects.filter(pk__in={one.worker for one in log.assignments}).exists():
        raise LogError("This database knows workers of the log: replay it in an empty one.")
    protocol.resolved(line.parameters, stored=True)
    with transaction.atomic():
        collection = create_collection(
            line.slug,
            protocol,
            corpus,
            overrides={},
            seed=line.seed,
            now=now,
            title=line.title,
            budget_cents=line.budget_cents,
            requester_name=line.requester_name,
            requester_contact=line.requester_contact,
            ethics_number=line.ethics_number,
        )
        # Who does it again is in none of the groups; the release says for whom it was.
        collection.parameters = {**line.parameters, "people": PeopleTable().model_dump()}
        collection.pseudonym_key = line.pseudonym_key
        collection.maintained_until = now + OWN_MAINTENANCE
        collection.save(update_fields=["parameters", "pseudonym_key", "maintained_until"])
        write_texts(collection, log, {text.text: 1 for text in log.texts}, now)
        collection.revisions.bulk_create(
            CollectionRevision(collection=collection, **revision.model_dump())
            for revision in log.revisions
        )
        Statement.objects.bulk_create(
            Statement(collection=collection, **statement.model_dump())
            for statement in log.statements
        )
        recreate_seeds(collection, log)
    return collection


def write_texts(collection: Collection, log: Log, newest: dict[str, int], now: datetime) -> None:
    """Write the words of the log up to the `newest` version of each name."""
    for text in log.texts:
        if text.version <= newest.get(text.text, 0):
            collection.texts.update_or_create(
                name=text.text,
                version=text.version,
                defaults={"markdown": text.markdown},
                create_defaults={"markdown": text.markdown, "created_at": now},
            )


def recreate_seeds(collection: Collection, log: Log) -> None:
    """Make the log's seeds of the paragraphs that it or their keys name; raises LogError."""
    wanted = {seed.key for seed in log.seeds}
    found = _told(collection.corpus, [seed for seed in log.seeds if seed.passages])
    if is_curated(collection):
        # Sets that a person has changed are not in the log: their seeds are missed below.
        propose_sets(collection)
    if any(not seed.passages for seed in log.seeds):
        for candidate in candidates_of(collection, parameters_of(collection)):
            if candidate.key in wanted:
                found.setdefault(candidate.key, candidate)
            if len(found) == len(wanted):
                break
    if len(found) < len(wanted):
        raise LogError(
            f"The corpus {collection.corpus.slug!r} lacks {len(wanted) - len(found)} of the "
            f"{len(wanted)} seeds of the log: it is not the one that was worked on. Read in the "
            "same dump, or name another corpus with --corpus."
        )
    store_seeds(
        collection, [(found[seed.key], seed.position, seed.stage, seed.fold) for seed in log.seeds]
    )


def _told(corpus: Corpus, seeds: Sequence[SeedLine]) -> dict[str, Candidate]:
    """Return by key the seeds whose passages the corpus has as the log tells them."""
    found: dict[str, Candidate] = {}
    for start in range(0, len(seeds), SEEDS_AT_ONCE):
        some = seeds[start : start + SEEDS_AT_ONCE]
        titles = {title for seed in some for title, _ in seed.passages}
        rows = Paragraph.objects.filter(article__corpus=corpus, article__title__in=titles)
        known = {(row.article.title, row.position): row for row in rows.select_related("article")}
        for seed in some:
            shown = [known[place] for place in seed.passages if place in known]
            texts = [row.text for row in shown]
            if text_sha256(texts) == seed.sha256:
                paragraphs = tuple(row.pk for row in shown)
                found[seed.key] = Candidate(seed.key, "\n".join(texts), paragraphs, seed.payload)
    return found


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
            # A ticket that nobody has, once every seed of the stage can be talked about.
            with transaction.atomic():
                add_topics(stage, table)
                free = stage.units.filter(closed=False, taken=0, submitted=0).order_by("position")
                return free.first() or create_unit(stage, [], line.redundancy)
        if one.unit not in self._units:
            from_seeds = table.items_from == "seeds"
            seeds = Seed.objects.filter(collection=self.collection)
            questions = Question.objects.filter(stage__collection=self.collection)
            rows: Any = (seeds if from_seeds else questions).filter(key__in=line.items)
            found = {item.key: item for item in rows}
            missing = [key for key in line.items if key not in found]
            if missing:
                raise LogError(
                    f"Nobody has made {missing[0]!r} at that time: the log is not whole."
                )
            items = [found[key] for key in line.items]
            with transaction.atomic():
                self._units[one.unit] = create_unit(stage, items, line.redundancy).pk
        return Unit.objects.get(pk=self._units[one.unit])

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
