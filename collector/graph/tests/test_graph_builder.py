"""Whatever links where, the file holds each edge once, in both orders."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.graph.tests.making import graph_of_links

LINKS = st.lists(st.lists(st.integers(0, 11), max_size=6), max_size=10)


@settings(max_examples=60, deadline=None)
@given(LINKS)
def test_every_edge_is_there_once_both_ways(links: list[list[int]]) -> None:
    graph = graph_of_links(links)
    numbers = range(len(links))
    assert graph.n_nodes == len(links)
    for a in numbers:
        assert graph.targets(a) == sorted({b for b in links[a] if b in numbers} - {a})
        assert graph.sources(a) == [b for b in numbers if a in links[b] and a != b]
    assert graph.in_degrees(numbers) == [len(graph.sources(b)) for b in numbers]
    assert graph.nodes_of([10, 11, 30]) == {each * 10: each for each in (1, 3) if each in numbers}


def test_draws_are_edges_of_the_graph() -> None:
    graph = graph_of_links([[1, 2], [2], [0], []])
    rng = random.Random(1)
    assert {graph.draw_source(2, rng) for _ in range(50)} == {0, 1}
    with pytest.raises(ValueError, match="empty range"):
        graph.draw_source(3, rng)
