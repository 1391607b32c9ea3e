"""Pairs are drawn as Algorithm 1 says, none twice, by the collection's seed alone."""

import random
from collections import Counter
from itertools import combinations, islice
from typing import Any

import pytest
from scipy.stats import chisquare

from annotation.protocols.hotpotqa.seeds import candidates, draws
from collector.candidates.candidate_sets import Pools
from collector.graph.tests.making import graph_of_links
from collector.protocols.loading import get_protocol
from common.actions import ActionError

DRAWS = 100_000
# Who links to whom: 0 has five edges to it, 1 three, 2 one, 3 and 4 two each.
LINKS = [[1, 3], [0], [0, 1, 3], [0, 4], [0, 1], [0, 2, 4], []]


def pools(bridges: tuple[int, ...] = (0, 1, 2), **lists: tuple[int, ...]) -> Pools:
    given = lists or {"towns": (0, 1, 2, 5), "rivers": (3, 4, 6)}
    return Pools(graph_of_links(LINKS), dict.fromkeys(bridges, "known"), given)


def rule(**changes: Any) -> Any:
    changed = {f"seeds.{name}": value for name, value in changes.items()}
    parameters: Any = get_protocol("hotpotqa").parameters(changed)
    return parameters.seeds


def expected(r1: float, r2: float) -> dict[tuple[str, str, tuple[int, int]], float]:
    """Return the probability of every outcome, from Algorithm 1 by hand."""
    found = {}
    for b in (0, 1, 2):
        leading = [a for a, targets in enumerate(LINKS) if b in targets]
        for a in leading:
            found["bridge", "any", (a, b)] = r1 / 3 / len(leading)
    for pages in ((0, 1, 2, 5), (3, 4, 6)):
        for pair in combinations(pages, 2):
            for ordered in (pair, pair[::-1]):
                one = (1 - r1) * len(pages) / 7 / (len(pages) * (len(pages) - 1))
                found["comparison", "yes_no", ordered] = one * r2
                found["comparison", "span", ordered] = one * (1 - r2)
    return found


@pytest.mark.parametrize(("r1", "r2"), [(0.75, 0.5), (0.3, 0.8)])
def test_a_hundred_thousand_draws_are_as_likely_as_algorithm_1_says(r1: float, r2: float) -> None:
    drawn = draws(rule(bridge_ratio=r1, yes_no_ratio=r2), pools(), random.Random(5))
    counts = Counter((each.type, each.form, each.pair) for each in islice(drawn, DRAWS))
    shares = expected(r1, r2)
    assert set(counts) == set(shares)
    observed = [counts[outcome] for outcome in shares]
    assert chisquare(observed, [share * DRAWS for share in shares.values()]).pvalue > 0.001


def test_no_two_paragraphs_are_a_pair_twice_in_any_order_or_kind() -> None:
    drawn = list(draws(rule(bridge_ratio=0.5), pools(), random.Random(1), used=set()))
    pairs = [frozenset(each.pair) for each in drawn]
    assert len(pairs) == len(set(pairs))
    assert {each.type for each in drawn} == {"bridge", "comparison"}


def test_the_ratio_stands_while_pairs_are_left() -> None:
    alone = [each.type for each in islice(draws(rule(), pools(), random.Random(1)), 10_000)]
    assert 0.73 < alone.count("bridge") / len(alone) < 0.77
    all_of_one = draws(rule(bridge_ratio=1.0), pools((0,)), random.Random(1), used=set())
    assert sorted(each.pair for each in all_of_one) == [(a, 0) for a in range(1, 6)]


def test_without_anything_kept_it_says_what_to_do() -> None:
    parameters: Any = get_protocol("hotpotqa").parameters()
    corpus: Any = None
    with pytest.raises(ActionError, match="keep some"):
        next(candidates(corpus, parameters, random.Random(1), pools(())))
    empty = Pools(graph_of_links(LINKS), {0: "known"}, {})
    with pytest.raises(ActionError, match="bridge_ratio to 1"):
        next(candidates(corpus, parameters, random.Random(1), empty))
