"""Spans, types of answers and numbers: what is likely, and what is decoded."""

import random
from decimal import Decimal
from itertools import product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import cross_entropy

from readers.learners.heads import (
    SIGNS,
    AnswerTypeHead,
    NumberHead,
    SpanHead,
    arithmetic,
    best_number,
    best_spans,
    number_of,
    numbers_in,
    sign_log_likelihood,
    span_log_likelihood,
    written,
)

small = st.integers(-9, 9).map(Decimal)


@given(st.randoms(use_true_random=False), st.integers(1, 9), st.integers(1, 9), st.integers(1, 5))
def test_the_best_spans_are_those_of_an_exhaustive_search(
    rng: random.Random, length: int, longest: int, n: int
) -> None:
    start = torch.tensor([float(rng.randrange(100)) for _ in range(length)])
    end = torch.tensor([float(rng.randrange(100)) for _ in range(length)])
    legal = [
        (i, j, float(start[i] + end[j]))
        for i, j in product(range(length), repeat=2)
        if 0 <= j - i < longest
    ]
    best = sorted(legal, key=lambda span: -span[2])[:n]
    found = best_spans(start, end, n=n, longest=longest)
    assert [tuple(span) for span in found] == best


def test_no_span_touches_a_masked_position() -> None:
    head, states = SpanHead(4), torch.randn(1, 6, 4)
    start, end = head(states, torch.tensor([[0, 0, 1, 1, 0, 0]]))
    spans = best_spans(start[0], end[0], n=50)
    assert {(span.first, span.last) for span in spans} == {(2, 2), (2, 3), (3, 3)}
    start, end = head(states, torch.zeros(1, 6))
    assert best_spans(start[0], end[0]) == []


def test_one_right_span_costs_the_two_cross_entropies() -> None:
    start, end = torch.randn(7), torch.randn(7)
    usual = cross_entropy(start, torch.tensor(2)) + cross_entropy(end, torch.tensor(4))
    torch.testing.assert_close(-span_log_likelihood(start, end, [(2, 4)]), usual)


def test_all_spans_together_are_certain() -> None:
    start, end = torch.randn(4), torch.randn(4)
    everything = list(product(range(4), repeat=2))
    assert abs(float(span_log_likelihood(start, end, everything))) < 1e-5


def test_all_signs_together_are_certain() -> None:
    assert abs(float(sign_log_likelihood(torch.randn(3, 3), list(product(SIGNS, repeat=3))))) < 1e-5


def test_a_number_is_the_sum_by_the_likeliest_signs() -> None:
    signs = torch.tensor([[0.0, 5.0, 0.0], [9.0, 0.0, 0.0], [0.0, 0.0, 3.0]])
    numbers = [Decimal("1864"), Decimal("7"), Decimal("1811")]
    assert best_number(signs, numbers) == 53
    assert best_number(torch.tensor([[9.0, 0.0, 0.0]] * 3), numbers) is None


@given(st.lists(small, max_size=5), small, st.integers(1, 3))
def test_every_way_to_a_number_is_found_and_none_else(
    numbers: list[Decimal], target: Decimal, most: int
) -> None:
    found = arithmetic(numbers, target, most=most, limit=10**6)
    every = {
        way
        for way in product((-1, 0, 1), repeat=len(numbers))
        if 1 <= sum(map(abs, way)) <= most
        and sum(sign * number for sign, number in zip(way, numbers, strict=True)) == target
    }
    assert set(found) == every
    assert len(found) == len(every)


def test_the_ways_with_fewest_numbers_come_first_and_are_so_many_at_most() -> None:
    numbers = [Decimal(n) for n in (3, 1, 2, 5)]
    assert arithmetic(numbers, Decimal(3), limit=2) == [(1, 0, 0, 0), (0, 1, 1, 0)]
    assert arithmetic(numbers, Decimal(100)) == []
    tenths = [Decimal("0.1"), Decimal("0.2")]
    assert arithmetic(tenths, Decimal("0.3")) == [(1, 1)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("In 1,250 and 3.5 of 20.", ["1250", "3.5", "20"]),
        ("Twelve of the 3rd, in the 1990s, B52.", ["12", "3"]),
        ("It ended 5-3.", ["5", "3"]),
        ("None at all.", []),
    ],
)
def test_the_numbers_of_a_text(text: str, found: list[str]) -> None:
    numbers = numbers_in(text)
    assert [written(number.value) for number in numbers] == found
    assert all(text[each.start : each.end].strip() for each in numbers)


def test_a_number_is_read_and_written_as_people_do() -> None:
    assert number_of(" 1,250.50 ") == Decimal("1250.5")
    assert number_of("−4") == -4
    assert number_of("12,500 BC") is None
    assert number_of("nan") is None
    assert [written(Decimal(text)) for text in ("53", "1E+3", "0.50", "-2.0")] == [
        "53",
        "1000",
        "0.5",
        "-2",
    ]


def test_heads_have_a_score_for_each_type_number_and_count() -> None:
    assert AnswerTypeHead(4, ("span", "number", "none"))(torch.randn(2, 4)).shape == (2, 3)
    signs, count = NumberHead(4)(torch.randn(9, 4), torch.randn(4), [0, 3, 8])
    assert signs.shape == (3, 3)
    assert count.shape == (10,)
    signs, _ = NumberHead(4)(torch.randn(9, 4), torch.randn(4), [])
    assert signs.shape == (0, 3)
