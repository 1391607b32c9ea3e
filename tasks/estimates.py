"""What a collection will cost: worst case and expected, by stage, with fees."""

from collections import Counter
from dataclasses import dataclass
from math import ceil

from collector.creation import parameters_of
from collector.models import Collection, Stage
from collector.parameters import Parameters, StageTable
from tasks import budget
from tasks.units import redundancy_of


@dataclass(frozen=True)
class StageEstimate:
    """HITs and cents of one stage; `expected_cents` leaves out qualification places not taken."""

    stage: Stage
    hits: int
    worst_cents: int
    expected_cents: int


def estimate(collection: Collection) -> list[StageEstimate]:
    """Return one row per stage, from the seeds chosen so far."""
    parameters = parameters_of(collection)
    questions: dict[str, Counter[str]] = {}
    rows = []
    for stage in collection.stages.all():
        table = parameters.stages()[stage.name]
        hits = _hits(collection, stage, table, parameters, questions)
        cost = table.reward_cents + budget.fee_cents(table.reward_cents, parameters.pay)
        # About every second person who tries a qualification is expected to be let in.
        likely = ceil(hits / 2) if table.qualifies else hits
        rows.append(StageEstimate(stage, hits, hits * cost, likely * cost))
    return rows


def _hits(
    collection: Collection,
    stage: Stage,
    table: StageTable,
    parameters: Parameters,
    questions: dict[str, Counter[str]],
) -> int:
    sample = getattr(table, "sample_questions", 0)
    if table.items_from == "seeds":
        folds = Counter(
            collection.seeds.filter(stage_name=stage.name).values_list("fold", flat=True)
        )
        per_unit = getattr(table, "questions_per_hit", table.items_per_hit)
        units = ceil(sum(folds.values()) / table.items_per_hit)
        total = sum(folds.values()) or 1
        questions[stage.name] = Counter(
            {
                fold: ceil(units * per_unit * number / total)
                * redundancy_of(fold, table.redundancy)
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
    if sample:
        return ceil(min(sample, source.get("test", 0)) / table.items_per_hit)
    return _places(source, table)


def _places(items: Counter[str], table: StageTable) -> int:
    """Return the HITs that this many items per fold need, bundled by their redundancy."""
    groups: Counter[int] = Counter()
    for fold, number in items.items():
        groups[redundancy_of(fold, table.redundancy)] += number
    return sum(
        redundancy * ceil(number / table.items_per_hit) for redundancy, number in groups.items()
    )
