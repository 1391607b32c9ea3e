"""How far one worker is from the next bonuses: their own numbers, and nobody else's."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Max, Sum

from collector.models import Seed, Stage
from collector.protocols.creation import parameters_of
from collector.protocols.parameters import FOLDS, BonusesTable, Redundancy
from tasks.ledger.accepted_examples import (
    ranked_for_prizes,
    stretches_of_block,
    stretches_of_round,
    uncounted,
)
from tasks.ledger.bonus_fund import bonuses_of
from tasks.ledger.bonus_rules import as_stretches, pace
from tasks.models import BonusFund, ExampleCount, Lease

# (worker, examples, seconds) of each submission, in order.
Waiting = Sequence[tuple[str, int, float]]


def progress_of(lease: Lease) -> dict[str, Any] | None:
    """Return {"round", "block"} of the lease's worker, or None where no bonus is promised.

    Of what still waits to be counted all that is approved and not dropped until now is in it.
    round: {"every", "done", "own", "place", "cents", "lacking", "next_cents"}: how many of the
    round's examples are accepted, the worker's own, their place where it earns `cents`, and how
    many more would lead to the next better bonus. block: {"size", "own", "per_hour", "paces"}.
    In both, `can_fill` says whether the collection has seeds enough for it to be earned at all.
    """
    stage = lease.unit.stage
    table = parameters_of(stage.collection).stages()[stage.name]
    bonuses = bonuses_of(table)
    if bonuses is None:
        return None
    waiting = list(uncounted(stage).values_list("lease__worker_id", "examples", "active_seconds"))
    most = _most_examples(stage, table.redundancy)
    return {
        "round": _round(stage, lease.worker_id, waiting, bonuses, most),
        "block": _block(stage, lease.worker_id, waiting, bonuses, most),
    }


def _most_examples(stage: Stage, redundancy: Redundancy) -> int:
    # Positions count up, so the last says how many there are at most, without counting them.
    seeds = Seed.objects.filter(collection=stage.collection_id)
    last: int = seeds.aggregate(last=Max("position"))["last"] or 0
    return last * max(map(redundancy.most_of, FOLDS))


def _round(
    stage: Stage, worker: str, waiting: Waiting, bonuses: BonusesTable, most: int
) -> dict[str, Any] | None:
    if not bonuses.top_cents:
        return None
    every, prizes = bonuses.top_every_examples, bonuses.top_cents
    fund = BonusFund.objects.filter(stage=stage).first()
    counted = fund.examples if fund else 0
    total = counted + sum(examples for _, examples, _ in waiting)
    first = total - total % every
    later = [one.within(first, first + every) for one in as_stretches(waiting, counted)]
    ranked = ranked_for_prizes([*stretches_of_round(stage, first, first + every), *later])
    own = dict(ranked).get(worker, 0)
    place = next((at for at, (who, _) in enumerate(ranked) if who == worker), len(ranked))
    # The place one better, or the last that earns something, is what they are after.
    wanted = min(place, len(prizes)) - 1 if own else min(len(ranked), len(prizes) - 1)
    above = ranked[wanted][1] if 0 <= wanted < len(ranked) else 0
    in_sight = wanted >= 0
    return {
        "every": every,
        "can_fill": first + every <= most,
        "done": total % every,
        "own": own,
        "place": place + 1 if own and place < len(prizes) else None,
        "cents": prizes[place] if own and place < len(prizes) else 0,
        "lacking": max(1, above - own + 1) if in_sight else 0,
        "next_cents": prizes[wanted] if in_sight else 0,
    }


def _block(
    stage: Stage, worker: str, waiting: Waiting, bonuses: BonusesTable, most: int
) -> dict[str, Any] | None:
    if not bonuses.paces:
        return None
    size = bonuses.block_examples
    counted: int = ExampleCount.objects.filter(stage=stage, worker=worker).aggregate(
        own=Sum("examples", default=0)
    )["own"]
    mine = [one for one in waiting if one[0] == worker]
    own = counted + sum(examples for _, examples, _ in mine)
    first = own - own % size
    later = [one.within(first, first + size) for one in as_stretches(mine, counted)]
    block = [*stretches_of_block(stage, worker, first, first + size), *later]
    return {
        "size": size,
        "can_fill": first + size <= most,
        "own": own % size,
        "per_hour": round(pace(block), 1),
        "paces": [one.model_dump() for one in bonuses.paces],
    }
