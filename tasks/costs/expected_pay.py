"""What an hour of a stage pays by the minutes the protocol expects, before anybody has worked."""

from dataclasses import dataclass
from math import ceil
from typing import Any

from collector.protocols.parameters import Parameters, StageTable
from tasks.work.kinds.hit_words import title_of
from tasks.work.kinds.registry import kind_of


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
