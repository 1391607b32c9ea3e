"""What a collection has bound so far, and what it costs at most and as expected, by stage.

At most is what is bound already and what every place that is still to come can cost, also where
all goes the dearest way: each qualification place taken, each question written where most answers
are wanted, each dialog as long as it may be after the longest wait, each pair skipped as often as
it may be, each bonus earned. That maximum is said when a collection is published, and changes by
what a requester does alone: more seeds, other parameters, a bonus given, a rejection withdrawn
after somebody else was paid for the work.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from math import ceil
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Case, Count, Exists, F, IntegerField, OuterRef, Q, Sum, When

from collector.models import Collection, CollectionRevision, CollectionState, Seed, Stage
from collector.protocols.creation import parameters_of
from collector.protocols.parameters import Parameters, StageTable
from collector.protocols.stage_tables import DialogTable
from tasks.dialog.settlement import longest_dialog_cents, longest_wait_cents, usual_dialog_cents
from tasks.ledger import budget
from tasks.ledger.performance_bonuses import most_cents
from tasks.models import (
    BonusFund,
    Dialog,
    DialogState,
    Lease,
    Payment,
    PaymentState,
    Posting,
    PostingState,
    Question,
    Submission,
    Ticket,
    Topic,
    Unit,
    UnitItem,
)
from tasks.work.kinds.hit_words import title_of
from tasks.work.kinds.kind import table_as
from tasks.work.kinds.registry import kind_of
from tasks.work.units import EXAMINATION_UNITS, left_out, made_by, was_read

OUT = (PostingState.PUBLISHING, PostingState.LIVE)
# A closed unit's places are those that were handed in.
MADE = Case(When(closed=True, then="submitted"), default="redundancy", output_field=IntegerField())
T = TypeVar("T")


@dataclass
class StageCommitments:
    """Of one stage, in cents with fees, what is `spent`, and `held` for what can still be earned.

    `withheld`: of rejected work, which can be taken back. `fund`: held and paid for its own
    bonuses, `awarded` the paid part; neither is in the others. `made`: places there are, `left` of
    them not handed in; `live_hits`: HITs that are up or planned; `seeds` by fold, `waiting` those
    in no bundle; `imported`: questions by fold that were read from files, whose seeds are none
    here; `talks`: dialogs taken up, `talking` now; `tickets`: whose wait is held.
    """

    spent: int = 0
    held: int = 0
    withheld: int = 0
    fund: int = 0
    awarded: int = 0
    made: int = 0
    left: int = 0
    submitted: int = 0
    live_hits: int = 0
    talks: int = 0
    talking: int = 0
    tickets: int = 0
    seeds: Counter[str] = field(default_factory=Counter)
    waiting: Counter[str] = field(default_factory=Counter)
    imported: Counter[str] = field(default_factory=Counter)

    @property
    def cents(self) -> int:
        """Return all that is bound but for bonuses of its own."""
        return self.spent + self.held + self.withheld


def commitments_by_stage(
    collection: Collection, stages: list[Stage]
) -> dict[int, StageCommitments]:
    """Return what is bound by each of the collection's stages, by its id.

    The queries are as many for any amount of work.
    """
    found = {stage.pk: StageCommitments() for stage in stages}
    if was_read(collection):
        _count_imported(found)
    else:
        _count_seeds(found)
    _count_places(collection, found)
    _count_money(collection, found)
    if any(kind_of(stage).pairs_workers for stage in stages):
        _count_dialogs(collection, found)
    return found


def _count_seeds(found: dict[int, StageCommitments]) -> None:
    bundled = Exists(UnitItem.objects.filter(seed=OuterRef("pk")))
    rows = (
        Seed.objects.filter(stage__in=found)
        .order_by()
        .values_list("stage_id", "fold", bundled)
        .annotate(n=Count("pk"))
    )
    for stage, fold, is_bundled, number in rows:
        found[stage].seeds[fold] += number
        if not is_bundled:
            found[stage].waiting[fold] += number


def _count_imported(found: dict[int, StageCommitments]) -> None:
    rows = Question.objects.filter(stage__in=found).order_by().values_list("stage_id", "seed__fold")
    for stage, fold, number in rows.annotate(n=Count("pk")):
        found[stage].imported[fold] += number


def _count_places(collection: Collection, found: dict[int, StageCommitments]) -> None:
    units = Unit.objects.filter(stage__collection=collection).order_by().values_list("stage_id")
    for stage, places, submitted in units.annotate(places=Sum(MADE), submitted=Sum("submitted")):
        found[stage].made, found[stage].submitted = places, submitted
        found[stage].left = places - submitted
    # What was left out of the dataset is made once more.
    gone = Submission.objects.filter(lease__unit__stage__collection=collection, replaced=True)
    for stage, number in gone.order_by().values_list("lease__unit__stage").annotate(n=Count("pk")):
        found[stage].made -= number
        found[stage].submitted -= number
    postings = Posting.objects.filter(stage__collection=collection, worker__isnull=True)
    for stage, number, held in (
        postings.order_by()
        .values_list("stage_id")
        .annotate(n=Count("pk", filter=Q(state__in=OUT)), held=Sum("reserved_cents"))
    ):
        found[stage].live_hits, found[stage].held = number, held
    stays = Lease.objects.filter(
        unit__stage__collection=collection, reserved_cents__gt=0
    ).order_by()
    for stage, held in stays.values_list("unit__stage_id").annotate(held=Sum("reserved_cents")):
        found[stage].held += held
    # Where all questions are left out, others are asked in their place.
    out, items = left_out(collection.pk), UnitItem.objects.filter(unit=OuterRef("pk"))
    made = made_by(out, "question__")
    useless = units.filter(Exists(items.filter(made)), ~Exists(items.exclude(made)))
    for stage, places, submitted in useless.annotate(places=Sum(MADE), submitted=Sum("submitted")):
        found[stage].made -= places
        found[stage].submitted -= submitted


def _count_money(collection: Collection, found: dict[int, StageCommitments]) -> None:
    paid = Payment.objects.filter(collection=collection, stage__isnull=False)
    withheld, cost = Q(state=PaymentState.WITHHELD), F("amount_cents") + F("fee_cents")
    for stage, spent, back in (
        paid.order_by()
        .values_list("stage_id")
        .annotate(
            spent=Sum(cost, filter=~withheld, default=0),
            back=Sum(cost, filter=withheld, default=0),
        )
    ):
        found[stage].spent, found[stage].withheld = spent, back
    for fund in BonusFund.objects.filter(stage__collection=collection):
        row = found[fund.stage_id]
        row.fund, row.awarded = fund.held_cents, fund.paid_cents
        row.spent -= fund.paid_cents


def _count_dialogs(collection: Collection, found: dict[int, StageCommitments]) -> None:
    tickets = Ticket.objects.filter(stage__collection=collection).order_by()
    for stage, held, waiting in tickets.values_list("stage_id").annotate(
        held=Sum("reserved_cents"), waiting=Count("pk", filter=Q(reserved_cents__gt=0))
    ):
        found[stage].held += held
        found[stage].tickets = waiting
    dialogs = Dialog.objects.filter(stage__collection=collection, settled=False).order_by()
    for stage, held, talking in dialogs.values_list("stage_id").annotate(
        held=Sum("reserved_cents"), talking=Count("pk", filter=~Q(state=DialogState.OVER))
    ):
        found[stage].held += held
        found[stage].talking = talking
    topics = Topic.objects.filter(stage__collection=collection).order_by()
    for stage, taken in topics.values_list("stage_id").annotate(taken=Sum("taken")):
        found[stage].talks = taken


@dataclass(frozen=True)
class QuestionsToCome:
    """The questions a stage can bring at most: `total` of them, `by_fold` of each fold.

    A writer may put all questions of a HIT about a paragraph of any fold that it shows, so the
    folds can add up to more than the total. dialogs: by fold, where the questions are of dialogs.
    """

    total: int = 0
    by_fold: tuple[tuple[str, int], ...] = ()
    dialogs: tuple[tuple[str, int], ...] = ()

    def places_of(self, table: StageTable) -> int:
        """Return the HITs that a stage needs at most which takes these questions up."""
        if self.dialogs:
            # A finished dialog is a bundle of its own, however long it was.
            return table.redundancy.places(by_redundancy(dict(self.dialogs), table))
        if table.sample_questions:
            sampled = sum(n for fold, n in self.by_fold if not fold or fold in table.sample_splits)
            drawn = min(table.sample_questions, sampled, self.total)
            return places_of_sample(drawn, table)
        return self._bundled(table)

    def _bundled(self, table: StageTable) -> int:
        """Return the HITs of bundles of one redundancy each, where folds come as dear as can be."""
        most: Counter[int] = Counter()
        for fold, number in self.by_fold:
            most[table.redundancy.of(fold)] += number
        size = table.items_per_hit
        dearest = _dearest(sorted(most.items(), reverse=True), self.total, size)
        # As many HITs as can be, all where the drawn share adds most.
        hits = ceil(self.total / size) + len(most)
        share = {min(filter(None, most), default=0): hits}
        return dearest + table.redundancy.places(share) - sum(n * each for each, n in share.items())


def _dearest(groups: list[tuple[int, int]], total: int, size: int) -> int:
    """Return the most HITs that this many questions can need, by redundancy, the largest first.

    groups: (redundancy, questions at most). A question that is left alone needs whole HITs: so
    not all are put where most answers are wanted, but of each group at most two bundles less.
    """
    if not groups:
        return 0
    (redundancy, most), *rest = groups
    most = min(most, total)
    least = max(0, most - 2 * size * len(rest)) if rest else most
    return max(
        redundancy * ceil(number / size) + _dearest(rest, total - number, size)
        for number in range(least, most + 1)
    )


def of_seeds(seeds: Counter[str], table: StageTable, places: int) -> QuestionsToCome:
    """Return the questions that can be written in this many HITs of a stage about these seeds."""
    kind = kind_of(table)
    free, skips = kind.questions_per_hit(table), max(1, kind.skips(table).per_item)
    by_fold = {}
    for fold, number in seeds.items():
        writers = number * table.redundancy.most_of(fold)
        if free:
            by_fold[fold] = free * min(places, writers)
        else:
            # A pair that one of several writers skipped is given to as many again.
            by_fold[fold] = writers * (skips if table.redundancy.most_of(fold) > 1 else 1)
    total = places * free if free else sum(by_fold.values())
    return QuestionsToCome(total, tuple(by_fold.items()))


def places_of_seeds(seeds: Counter[str], table: StageTable) -> int:
    """Return the HITs that seeds in no bundle yet need, bundled by their redundancy."""
    groups = by_redundancy(seeds, table)
    hits = {redundancy: ceil(n / table.items_per_hit) for redundancy, n in groups.items()}
    return table.redundancy.places(hits)


def places_of_sample(drawn: int, table: StageTable) -> int:
    """Return the HITs that a number of decided questions need, drawn for the stage at once."""
    return table.redundancy.places({table.redundancy.of("test"): ceil(drawn / table.items_per_hit)})


def by_redundancy(by_fold: Mapping[str, int], table: StageTable) -> Counter[int]:
    """Return how many there are by how many people usually do one, of numbers by fold."""
    groups: Counter[int] = Counter()
    for fold, number in by_fold.items():
        groups[table.redundancy.of(fold)] += number
    return groups


def places_of_skipped(seeds: Counter[str], table: StageTable) -> int:
    """Return the HITs that are needed beside where as much is skipped as may be.

    Whole bundles of skipped seeds are handed out at once, a smaller one each time all else is
    done; everybody who is handed one may skip again, until a seed has been given often enough.
    """
    skips = kind_of(table).skips(table)
    most = skips.per_item
    if most < 2 or not seeds:
        return 0
    size, again = table.items_per_hit, 0
    redundancies = {table.redundancy.most_of(fold) for fold in seeds}
    skipped, bundles = seeds.total(), places_of_seeds(seeds, table)
    for _ in range(most - 1):
        skipped = min(skipped, bundles * skips.per_hit)
        again += skipped
        bundles = (skipped // size + len(redundancies)) * max(redundancies)
    return (again // size + (most - 1) * len(redundancies)) * max(redundancies)


@dataclass(frozen=True)
class Shortfall:
    """A stage that pays less than the floor; `missing_cents`: what a HIT would have to pay more."""

    stage: str
    title: str
    minutes: int
    cents_per_hour: int
    missing_cents: int


def usual_cents(table: StageTable) -> int:
    """Return what a HIT usually pays: the reward, and the turns of a dialog of usual length."""
    return table.reward_cents + kind_of(table).usual_bonus_cents(table)


def cents_per_hour(table: StageTable) -> int:
    """Return what an hour pays if HITs take the minutes expected; waits are paid on their own."""
    return usual_cents(table) * 60 // table.expected_minutes


def shortfalls(parameters: Parameters) -> list[Shortfall]:
    """Return the stages that pay less than the floor, in order."""
    floor: Any = parameters.pay.floor_cents_per_hour
    return [
        Shortfall(
            stage=name,
            title=title_of(table),
            minutes=table.expected_minutes,
            cents_per_hour=cents_per_hour(table),
            missing_cents=ceil(floor * table.expected_minutes / 60) - usual_cents(table),
        )
        for name, table in parameters.stages().items()
        if cents_per_hour(table) < floor
    ]


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
        hourly = cents_per_hour(table)
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
            per_unit = kind_of(table).questions_per_hit(table) or table.items_per_hit
            total = bound.seeds.total()
            units = ceil(total / table.items_per_hit)
            self.usual[stage.name] = Counter(
                {
                    fold: ceil(ceil(units * per_unit * n / total) * table.redundancy.mean_of(fold))
                    for fold, n in bound.seeds.items()
                }
            )
            places = places_of_seeds(bound.seeds, table)
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
