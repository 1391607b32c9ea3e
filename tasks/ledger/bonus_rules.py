"""Who earns what for how many accepted examples, without any row (HotpotQA A.2)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from collector.protocols.parameters import BonusesTable

SECONDS_PER_HOUR = 3600


@dataclass(frozen=True)
class Stretch:
    """Some accepted examples in a row: whose, how many, the seconds they took all together.

    `start` is how many there were before them: of everybody's in a round, of the same worker's
    in a block.
    """

    worker: str
    start: int
    examples: int
    seconds: float

    def within(self, first: int, last: int) -> "Stretch":
        """Return the part of it from example `first` to before `last`; each took as long."""
        start = max(self.start, first)
        examples = max(0, min(self.start + self.examples, last) - start)
        share = examples / self.examples if self.examples else 0.0
        return Stretch(self.worker, start, examples, self.seconds * share)


def as_stretches(written: Iterable[tuple[str, int, float]], start: int = 0) -> list[Stretch]:
    """Return (worker, examples, seconds) as stretches, one after the other from `start`."""
    found = []
    for worker, examples, seconds in written:
        found.append(Stretch(worker, start, examples, seconds))
        start += examples
    return found


def ranking(stretches: Iterable[Stretch]) -> list[tuple[str, int]]:
    """Return (worker, examples) with most first; of equals the one who had them first."""
    counts: dict[str, int] = {}
    reached: dict[str, int] = {}
    for stretch in sorted(stretches, key=lambda one: one.start):
        if stretch.examples:
            counts[stretch.worker] = counts.get(stretch.worker, 0) + stretch.examples
            reached[stretch.worker] = stretch.start + stretch.examples
    return sorted(counts.items(), key=lambda one: (-one[1], reached[one[0]]))


def pace(stretches: Sequence[Stretch]) -> float:
    """Return the examples per hour of work; 0 where there are none or no time was measured."""
    seconds = sum(stretch.seconds for stretch in stretches)
    examples = sum(stretch.examples for stretch in stretches)
    return examples * SECONDS_PER_HOUR / seconds if seconds > 0 else 0.0


def pace_cents(per_hour: float, table: BonusesTable) -> int:
    """Return what a block at this pace earns: the best of the paces that it reaches."""
    reached = [one.cents for one in table.paces if per_hour >= one.examples_per_hour]
    return max(reached, default=0)


def rounds_ended(start: int, examples: int, size: int) -> range:
    """Return the numbers, from 0, of the rounds or blocks of `size` that these examples end."""
    return range(start // size, (start + examples) // size)


def worst_cents(
    n_examples: int, n_blocks: int, more: int, table: BonusesTable, cost: Callable[[int], int]
) -> int:
    """Return what `more` examples can make due at most, after `n_examples` and paid `n_blocks`.

    cost: what an amount costs with its fee. Every block needs examples of its own, whoever
    writes them, and ends with one that is new.
    """
    every = table.top_every_examples
    rounds = (n_examples + more) // every - n_examples // every
    blocks = min(more, max(0, (n_examples + more) // table.block_examples - n_blocks))
    best = max((one.cents for one in table.paces), default=0)
    return rounds * sum(cost(cents) for cents in table.top_cents) + blocks * cost(best)
