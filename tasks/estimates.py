"""What a collection will cost: worst case and expected, by stage, with fees."""

from collections import Counter
from dataclasses import dataclass
from math import ceil

from django.db.models import Count, Exists, OuterRef

from collector.creation import parameters_of
from collector.models import Collection, Stage
from collector.parameters import Parameters, StageTable
from tasks import budget
from tasks.awards.fund import most_cents
from tasks.dialog.estimates import dialogs_wanted, talk_cents
from tasks.models import Posting, PostingState, Unmatched

# Postings whose pay is fixed: it can still be earned, or was, or a rejection can be taken back.
STANDING = (
    PostingState.PUBLISHING,
    PostingState.LIVE,
    PostingState.SUBMITTED,
    PostingState.SETTLED,
    PostingState.UNMATCHED,
    PostingState.REJECTED,
)


@dataclass(frozen=True)
class StageEstimate:
    """HITs and cents of one stage; `expected_cents` leaves out qualification places not taken.

    HITs that were put up before the reward was changed count with their own.
    """

    stage: Stage
    hits: int
    worst_cents: int
    expected_cents: int


def estimate(collection: Collection) -> list[StageEstimate]:
    """Return one row per stage, from the seeds chosen so far."""
    parameters = parameters_of(collection)
    posted = posted_hits(collection)
    questions: dict[str, Counter[str]] = {}
    rows = []
    for stage in collection.stages.all():
        table = parameters.stages()[stage.name]
        hits = _hits(collection, stage, table, parameters, questions)
        rewards = posted.get((stage.pk, False), Counter()).copy()
        rewards[table.reward_cents] += max(0, hits - rewards.total())
        # What came without work fills no place: its pay comes on top.
        rewards += posted.get((stage.pk, True), Counter())
        worst = sum(
            number * (cents + budget.fee_cents(cents, parameters.pay))
            for cents, number in rewards.items()
        )
        # About every second person who tries a qualification is expected to be let in.
        likely = ceil(hits / 2) / hits if table.qualifies and hits else 1
        expected = round(worst * likely)
        if table.kind == "dialog":
            talks = talk_cents(stage, parameters)
            worst, expected = worst + talks.worst, expected + talks.expected
        most = most_cents(hits * table.items_per_hit, table, parameters)
        worst, expected = worst + most, expected + most
        rows.append(StageEstimate(stage, hits, worst, expected))
    return rows


def posted_hits(collection: Collection) -> dict[tuple[int, bool], Counter[int]]:
    """Return how many HITs of each reward every stage has put up; one query.

    By the stage's id and whether they were handed in without work.
    """
    empty = Unmatched.objects.filter(session__posting=OuterRef("pk"))
    rows = (
        Posting.objects.filter(
            stage__collection=collection, worker__isnull=True, state__in=STANDING
        )
        .order_by()
        .values_list("stage_id", Exists(empty), "reward_cents")
        .annotate(number=Count("pk"))
    )
    found: dict[tuple[int, bool], Counter[int]] = {}
    for stage, is_empty, cents, number in rows:
        found.setdefault((stage, is_empty), Counter())[cents] += number
    return found


def _hits(
    collection: Collection,
    stage: Stage,
    table: StageTable,
    parameters: Parameters,
    questions: dict[str, Counter[str]],
) -> int:
    if table.kind == "dialog":
        dialogs = dialogs_wanted(stage, table)
        questions[stage.name] = Counter(
            {fold: number * table.max_questions for fold, number in dialogs.items()}  # type: ignore[attr-defined]
        )
        return 2 * dialogs.total()
    if table.items_from == "seeds":
        folds = Counter(
            collection.seeds.filter(stage_name=stage.name).values_list("fold", flat=True)
        )
        per_unit = getattr(table, "questions_per_hit", table.items_per_hit)
        units = ceil(sum(folds.values()) / table.items_per_hit)
        total = sum(folds.values()) or 1
        questions[stage.name] = Counter(
            {
                fold: ceil(units * per_unit * number / total) * table.redundancy.of(fold)
                for fold, number in folds.items()
            }
        )
        if table.qualifies:
            return table.redundancy.train if units else 0
        return _places(folds, table)
    if table.qualifies:
        return table.redundancy.train
    source = questions.get(table.items_from) or questions.get(
        parameters.stages()[table.items_from].items_from, Counter()
    )
    if table.sample_questions:
        sampled = (n for fold, n in source.items() if not fold or fold in table.sample_splits)
        readings = ceil(min(table.sample_questions, sum(sampled)) / table.items_per_hit)
        return readings * table.redundancy.of("test")
    return _places(source, table)


def _places(items: Counter[str], table: StageTable) -> int:
    """Return the HITs that this many items per fold need, bundled by their redundancy."""
    groups: Counter[int] = Counter()
    for fold, number in items.items():
        groups[table.redundancy.of(fold)] += number
    return sum(
        redundancy * ceil(number / table.items_per_hit) for redundancy, number in groups.items()
    )


def standing_hits(collection: Collection) -> dict[int, int]:
    """Return how many HITs of every stage workers can still take or are at, by its id."""
    rows = (
        Posting.objects.filter(
            stage__collection=collection,
            worker__isnull=True,
            state__in=(PostingState.PUBLISHING, PostingState.LIVE),
        )
        .order_by()
        .values_list("stage_id")
        .annotate(number=Count("pk"))
    )
    return dict(rows)
