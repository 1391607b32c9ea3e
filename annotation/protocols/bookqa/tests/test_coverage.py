"""What passages hold of an answer equals what a plain search of all spans finds."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.metrics.generated_text import rouge_l
from annotation.protocols.bookqa.ranking import (
    BM25,
    ORACLE,
    Held,
    best_spans,
    covered,
    held,
    ranked,
    words,
    words_with_places,
)
from annotation.protocols.bookqa.tests.ranking_making import ranking_numbers, real_books

TEXTS = st.lists(st.sampled_from("abcd"), max_size=12)


def by_brute_force(passage: list[str], answers: list[list[str]]) -> Held:
    """Return ROUGE-L of the best span, each span scored as the metric scores a prediction."""
    best, is_there = 0.0, False
    for answer in answers:
        length = min(len(answer), len(passage))
        if not length:
            continue
        for first in range(len(passage) - length + 1):
            span = passage[first : first + length]
            best = max(best, rouge_l(" ".join(span), [" ".join(answer)]))
            is_there |= span == answer
    return Held(best, is_there)


@given(passage=TEXTS, answers=st.lists(TEXTS, max_size=3))
def test_it_equals_a_plain_search(passage: list[str], answers: list[list[str]]) -> None:
    found, expected = held(passage, answers), by_brute_force(passage, answers)
    assert found.rouge_l == pytest.approx(expected.rouge_l, abs=1e-12)
    assert found.is_there == expected.is_there


def test_an_answer_longer_than_a_machine_word_is_no_trouble() -> None:
    answer = [f"w{number % 40}" for number in range(90)]
    passage = ["x", *answer[10:], "y", *answer[:30], *["z"] * 20]
    assert held(passage, [answer]).rouge_l == pytest.approx(
        by_brute_force(passage, [answer]).rouge_l
    )


def test_case_punctuation_and_emphasis_do_not_count() -> None:
    assert words("_She_ said: “Self-made, Sir Robert's!”") == [
        *("she", "said", "self", "made", "sir", "robert", "s"),
    ]


def test_an_answer_that_stands_there_is_held_whole() -> None:
    passage = words("He lived in Grosvenor Square, London, and was rich.")
    assert held(
        passage, [words("Grosvenor Square in London"), words("Grosvenor Square, London")]
    ) == (
        1.0,
        True,
    )
    assert held(passage, [words("Paris"), []]) == (0.0, False)


@pytest.mark.data
def test_fifty_real_questions_are_covered_as_a_plain_search_says(data: Path) -> None:
    numbers = ranking_numbers()
    sample = [
        one
        for book in real_books(data, 5)
        for number, one in enumerate(ranked([book], numbers, {}))
        if number % 3 == 0
    ][:50]
    assert len(sample) >= 49
    for one in sample:
        found = covered(one, [BM25, ORACLE], [5])
        for (ranker, most), value in found.items():
            each = [
                by_brute_force(one.book.words[passage], one.question.answer_words)
                for passage in one.chosen(ranker, most)
            ]
            assert value.rouge_l == pytest.approx(max(got.rouge_l for got in each), abs=1e-12)
            assert value.is_there == any(got.is_there for got in each)


@given(passage=TEXTS, answer=TEXTS)
def test_the_best_spans_are_all_that_hold_most(passage: list[str], answer: list[str]) -> None:
    rouge, length, starts = best_spans(passage, answer)
    assert rouge == pytest.approx(held(passage, [answer]).rouge_l)
    if not starts:
        assert rouge == 0
        return
    assert length == min(len(answer), len(passage))
    for first in range(len(passage) - length + 1):
        span = passage[first : first + length]
        is_best = rouge_l(" ".join(span), [" ".join(answer)]) == pytest.approx(rouge)
        assert is_best == (first in starts)


def test_words_stand_where_their_places_say() -> None:
    text = "The Miller’s _daughter_, İdil, 2nd."
    placed = words_with_places(text)
    assert [text[start:end] for _, start, end in placed][:3] == ["The", "Miller", "s"]
    assert [word for word, _, _ in placed][:4] == ["the", "miller", "s", "daughter"]
