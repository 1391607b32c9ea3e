"""What the command says of an estimate."""

from typing import TYPE_CHECKING

from annotation.baselines.training import Order
from annotation.tables.table import Cell, Table
from annotation.tables.terminal import table_lines

if TYPE_CHECKING:
    from readers.trainer.estimate import Estimate

MINUTE, HOUR, DAY = 60, 3600, 86400
MEBIBYTE, GIBIBYTE = 2**20, 2**30


def as_estimate(order: Order, found: "Estimate") -> str:
    """Return how long it would take, in how much memory, and what was measured."""
    columns = [
        "stage",
        "items",
        "weights",
        "steps",
        "a step",
        "of",
        "looks at dev",
        "a look",
        "all",
    ]
    rows: list[list[Cell]] = [
        [
            stage.name,
            stage.items,
            stage.parameters,
            stage.steps,
            duration(stage.seconds_a_step),
            f"{stage.steps_measured} measured",
            stage.looks,
            duration(stage.seconds_a_look),
            duration(stage.seconds),
        ]
        for stage in found.stages
    ]
    rows += [
        [f"{each.stage}: answers", each.items, *[""] * 6, duration(each.seconds)]
        for each in found.answering.values()
    ]
    note = (
        f"In all about {duration(found.seconds)}, with {duration(found.seconds_to_answer)} for the "
        f"answers between the stages and at the end; {size(found.peak_bytes)} of {found.memory}, "
        f"over the longest items; at most {size(found.disk_bytes)} on the disk. Nothing was "
        "trained or written. What a stage would hand to the next is stood in for. Left out: "
        f"{found.left_out}."
    )
    title = f"{order.protocol.name}, {order.name}, recipe {order.recipe} on {found.device}"
    return table_lines([Table("estimate", title, columns, rows, note)], in_colour=False)


def size(number: int) -> str:
    """Return a number of bytes as a person says it."""
    if number >= GIBIBYTE:
        return f"{number / GIBIBYTE:.1f} GiB"
    return f"{max(1, round(number / MEBIBYTE))} MiB"


def duration(seconds: float) -> str:
    """Return a time as a person says it."""
    if seconds < 1:
        return f"{1000 * seconds:.3g} ms"
    for unit, name in ((DAY, "days"), (HOUR, "h"), (MINUTE, "min")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.1f} {name}"
    return f"{seconds:.1f} s"
