"""What a collection costs: at most and as expected, by stage, with fees.

At most is what is bound already and what every place that is still to come can cost, also where
all goes the dearest way: each qualification place taken, each question written where most answers
are wanted, each dialog as long as it may be after the longest wait, each pair skipped as often as
it may be, each bonus earned. That maximum is said when a collection is published, and changes by
what a requester does alone: more seeds, other parameters, a bonus given, a rejection withdrawn
after somebody else was paid for the work.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from math import ceil
from typing import TypeVar

from django.db import transaction
from django.db.models import Count

from collector.models import Collection, CollectionRevision, CollectionState, Stage
from collector.protocols.creation import parameters_of
from collector.protocols.parameters import Parameters, StageTable
from collector.protocols.stage_tables import DialogTable
from tasks.costs import expected_pay
from tasks.costs.commitments import OUT, StageCommitments, commitments_by_stage
from tasks.costs.hit_counts import (
    QuestionsToCome,
    of_seeds,
    places_of_sample,
    places_of_seeds,
    places_of_skipped,
)
from tasks.dialog.pay import longest_dialog_cents, longest_wait_cents, usual_dialog_cents
from tasks.ledger import budget
from tasks.ledger.bonus_fund import most_cents
from tasks.models import Posting
from tasks.work.kinds.kind import table_as
from tasks.work.kinds.registry import kind_of
from tasks.work.units import EXAMINATION_UNITS

T = TypeVar("T")


@dataclass(frozen=True)
class StageEstimate:
    """HITs and cents of one stage; `places`, `hits` and `expected_cents` as it usually goes.

    `hits` and `expected_cents` leave out qualification places not taken. `cents_per_hour`: by the
    minutes that the protocol expects.
    """

    stage: Stage
    places: int
    hits: int
    maximum_cents: int
    expected_cents: int
    cents_per_hour: int


@dataclass(frozen=True)
class Totals:
    """Cents, fees included. `repeats` is the part of `maximum` held for work that is broken off."""

    maximum: int
    expected: int
    repeats: int


def estimate(collection: Collection) -> list[StageEstimate]:
    """Return one row per stage, from the seeds chosen so far."""
    stages = list(collection.stages.all())
    bound = commitments_by_stage(collection, stages)
    was_read = any(each.imported for each in bound.values())
    sheet = _Sheet(parameters_of(collection), was_read=was_read)
    return [sheet.row(stage, bound[stage.pk]) for stage in stages]


def totals(collection: Collection, rows: list[StageEstimate]) -> Totals:
    """Return the sums of an estimate; the maximum of a published collection is what was said."""
    stages = sum(row.maximum_cents for row in rows)
    expected = sum(row.expected_cents for row in rows)
    maximum = collection.maximum_cents
    if maximum is None or collection.state == CollectionState.DRAFT:
        maximum = stages + _repeats(collection, stages)
    return Totals(maximum, min(expected, maximum), max(0, maximum - stages))


def totals_from_now(collection: Collection) -> Totals:
    """Return what the collection costs from where it stands now, with all that was paid before."""
    rows = estimate(collection)
    stages = sum(row.maximum_cents for row in rows)
    repeats = _repeats(collection, stages)
    bound = collection.reserved_cents + collection.spent_cents
    expected = sum(row.expected_cents for row in rows)
    return Totals(max(bound, stages + repeats), expected, repeats)


def _repeats(collection: Collection, cents: int) -> int:
    return ceil(cents * parameters_of(collection).pay.repeats_percent / 100)


class _Sheet:
    """Goes through the stages in order: what one brings, later ones take up."""

    def __init__(self, parameters: Parameters, *, was_read: bool) -> None:
        self.parameters, self.was_read = parameters, was_read
        self.tables = parameters.stages()
        self.usual: dict[str, Counter[str]] = {}
        self.most: dict[str, QuestionsToCome] = {}

    def row(self, stage: Stage, bound: StageCommitments) -> StageEstimate:
        """Return a stage's estimate."""
        table = self.tables[stage.name]
        usual, places = self._usual_places(stage, table, bound), self._places(stage, table, bound)
        # Each fold's share is rounded up by itself, so the usual can come to more than the most.
        usual = min(usual, places)
        cost = table.reward_cents + budget.fee_cents(table.reward_cents, self.parameters.pay)
        coming = max(0, bound.left + max(0, places - bound.made) - bound.live_hits)
        # About every second person who tries a qualification is expected to be let in.
        hits = ceil(usual / 2) if table.qualifies else usual
        expected = bound.spent + max(0, hits - bound.submitted) * cost
        maximum = bound.cents
        if kind_of(table).pairs_workers:
            wanted = sum(n * table.redundancy.of(fold) for fold, n in bound.seeds.items())
            talks = dialogs_to_come(wanted, bound, table, self.parameters)
            coming, maximum = talks.hits, maximum + talks.most
            expected += talks.expected
        maximum += coming * cost + max(bound.fund, self._awards(places, table))
        expected += max(bound.awarded, self._awards(usual, table))
        hourly = expected_pay.cents_per_hour(table)
        return StageEstimate(stage, usual, hits, maximum, min(expected, maximum), hourly)

    def _awards(self, hits: int, table: StageTable) -> int:
        return most_cents(hits * table.items_per_hit, table, self.parameters)

    def _places(self, stage: Stage, table: StageTable, bound: StageCommitments) -> int:
        """Return the places the stage can come to have; notes what questions it can bring."""
        if kind_of(table).pairs_workers:
            dialogs = {fold: n * table.redundancy.of(fold) for fold, n in bound.seeds.items()}
            self.most[stage.name] = QuestionsToCome(dialogs=tuple(dialogs.items()))
            return 2 * sum(dialogs.values())
        if table.items_from == "seeds":
            # Bundles that were made are whole or not: what waits makes new ones.
            places = bound.made + places_of_seeds(bound.waiting, table)
            places = max(places, places_of_seeds(bound.seeds, table))
            places += places_of_skipped(bound.seeds, table)
            self.most[stage.name] = of_seeds(bound.seeds, table, places)
            if bound.imported:
                by_fold = tuple(bound.imported.items())
                self.most[stage.name] = QuestionsToCome(bound.imported.total(), by_fold)
            return places
        if self.was_read and not table.sample_questions:
            return 0
        if table.qualifies:
            return EXAMINATION_UNITS * table.redundancy.train
        return self._source(self.most, table, QuestionsToCome()).places_of(table)

    def _source(self, found: dict[str, T], table: StageTable, nothing: T) -> T:
        """Return what the stage takes up: of the stage named, or of the one that it reads."""
        name = table.items_from
        return found.get(name) or found.get(self.tables[name].items_from) or nothing

    def _usual_places(self, stage: Stage, table: StageTable, bound: StageCommitments) -> int:
        """Return the places where questions are spread over the folds as the seeds are."""
        if kind_of(table).pairs_workers:
            dialogs = {fold: n * table.redundancy.of(fold) for fold, n in bound.seeds.items()}
            longest = table_as(table, DialogTable).max_questions
            self.usual[stage.name] = Counter({fold: n * longest for fold, n in dialogs.items()})
            return 2 * sum(dialogs.values())
        if table.items_from == "seeds":
            places = self._usual_of_seeds(stage, table, bound.seeds)
            self.usual[stage.name] += bound.imported
            return places
        if self.was_read and not table.sample_questions:
            return 0
        if table.qualifies:
            return EXAMINATION_UNITS * table.redundancy.train
        source = self._source(self.usual, table, Counter())
        asked = self.tables.get(table.items_from)
        if asked is not None and kind_of(asked).pairs_workers:
            # A finished dialog is a bundle of its own.
            return self._source(self.most, table, QuestionsToCome()).places_of(table)
        if table.sample_questions:
            sampled = (n for fold, n in source.items() if not fold or fold in table.sample_splits)
            return places_of_sample(min(table.sample_questions, sum(sampled)), table)
        return places_of_seeds(source, table)

    def _usual_of_seeds(self, stage: Stage, table: StageTable, seeds: Counter[str]) -> int:
        per_unit = kind_of(table).questions_per_hit(table) or table.items_per_hit
        total = seeds.total()
        units = ceil(total / table.items_per_hit)
        self.usual[stage.name] = Counter(
            {
                fold: ceil(ceil(units * per_unit * n / total) * table.redundancy.mean_of(fold))
                for fold, n in seeds.items()
            }
        )
        return places_of_seeds(seeds, table)


def live_hits(collection: Collection) -> dict[int, int]:
    """Return how many HITs of every stage workers can still take or are at, by its id."""
    rows = (
        Posting.objects.filter(stage__collection=collection, worker__isnull=True, state__in=OUT)
        .order_by()
        .values_list("stage_id")
        .annotate(number=Count("pk"))
    )
    return dict(rows)


def say_maximum(collection: Collection, now: datetime) -> int:
    """Return the collection's maximum total in cents, fixed now if seeds or parameters are new.

    A draft's is always fixed anew: it can have other seeds, as many as before. Locks the collection
    where it is fixed; the change is recorded.
    """
    asked, is_draft = _asked(collection), collection.state == CollectionState.DRAFT
    if collection.maximum_cents is not None and collection.maximum_for == asked and not is_draft:
        return collection.maximum_cents
    # What is read after `asked` is at least as new: a change between them is found by `is_current`.
    collection.refresh_from_db(fields=["parameters"])
    wanted = totals_from_now(collection).maximum
    with transaction.atomic():
        row = Collection.objects.select_for_update(no_key=True).get(pk=collection.pk)
        if is_draft or row.maximum_for != asked:
            # What is bound has been promised.
            new = max(wanted, row.reserved_cents + row.spent_cents)
            if row.maximum_cents not in (None, new):
                row.revisions.create(
                    key="maximum_cents",
                    old=row.maximum_cents,
                    new=new,
                    by="new seeds, pay or places",
                    at=now,
                )
            row.maximum_cents, row.maximum_for = new, asked
            row.save(update_fields=["maximum_cents", "maximum_for"])
    collection.maximum_cents, collection.maximum_for = row.maximum_cents, row.maximum_for
    return int(row.maximum_cents or 0)


def keep_maximum(collection: Collection, now: datetime) -> int:
    """Say the maximum of a published collection anew where seeds or parameters have changed.

    Returns 1 if it was said anew. One that was published before maxima were said has none.
    """
    if collection.maximum_cents is None or is_current(collection):
        return 0
    say_maximum(collection, now)
    return 1


def is_current(collection: Collection) -> bool:
    """Return whether its maximum was said for the seeds and the parameters that it has now."""
    return collection.maximum_for == _asked(collection)


def _asked(collection: Collection) -> str:
    """Return what the maximum follows from: how many seeds, and the newest change of parameters."""
    changes = collection.revisions.exclude(key__in=CollectionRevision.NOT_PARAMETERS)
    newest = changes.order_by("-pk").values_list("pk", flat=True).first()
    return f"{collection.seeds.count()} seeds, change {newest or 0}"


@dataclass(frozen=True)
class DialogsToCome:
    """What is still to come, in cents with fees: at most, and as dialogs and waits usually are.

    `hits`: the HITs that are still to be put up for them.
    """

    hits: int
    most: int
    expected: int


def dialogs_to_come(
    wanted: int, bound: StageCommitments, table: StageTable, parameters: Parameters
) -> DialogsToCome:
    """Return what the dialogs that nobody has begun yet come to.

    wanted: how many dialogs the stage's sections are to have. Two people each: some have HITs that
    are up, and some of these wait with their wait held.
    """
    own = table_as(table, DialogTable)
    missing = max(0, wanted - bound.talks)
    wait = longest_wait_cents(own, parameters)
    here = max(0, bound.live_hits - 2 * bound.talking)
    waiting = max(0, bound.tickets - 2 * bound.talking)
    waits = max(0, 2 * missing - waiting)
    return DialogsToCome(
        hits=max(0, 2 * missing - here),
        most=waits * wait + missing * longest_dialog_cents(own, parameters),
        # Nobody knows before how many wait at a time: half the longest wait.
        expected=missing * (wait + usual_dialog_cents(own, parameters)),
    )
