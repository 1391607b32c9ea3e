"""Which workers are sampled for single-hop questions, and which of their questions."""

import random
from collections.abc import Mapping, Sequence
from fractions import Fraction

from annotation.splits.difficulty.parameters import DifficultyTable


def top_contributors(keys: Mapping[str, Sequence[str]], share: float) -> list[str]:
    """Return the fewest workers who together wrote more than `share` of the questions.

    keys: the keys of each worker's questions. Those with most come first; of equal ones the one
    whose first key comes first, so that the order does not depend on workers' random ids.
    """
    ranked = sorted(keys, key=lambda worker: (-len(keys[worker]), min(keys[worker])))
    wanted = Fraction(str(share)) * sum(len(each) for each in keys.values())
    chosen: list[str] = []
    have = 0
    for worker in ranked:
        if have > wanted:
            break
        chosen.append(worker)
        have += len(keys[worker])
    return chosen


def sample_size(n_questions: int, n_most: int, table: DifficultyTable) -> int:
    """Return how many questions are drawn of a worker who wrote `n_questions`.

    Between the least and the most, in proportion to the worker who wrote most, `n_most`; never
    more than there are (HotpotQA 3, "3–10 per Turker").
    """
    wanted = max(table.min_sample, round(Fraction(table.max_sample * n_questions, n_most)))
    return min(wanted, table.max_sample, n_questions)


def draw(keys: Sequence[str], number: int, seed: int) -> list[str]:
    """Return `number` of a worker's keys, the same for the same keys and seed."""
    rng = random.Random(f"{seed}:hops:{min(keys)}")
    return rng.sample(sorted(keys), number)
