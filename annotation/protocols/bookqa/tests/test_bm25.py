"""BM25 is Lucene's, to the last digit that the library gives, and quick enough for a book."""

import time

import pytest

from annotation.metrics.tests.golden import vectors
from annotation.protocols.bookqa.ranking import Bm25

DOCUMENTS = [["a", "b", "a"], ["b", "c"], ["d"], ["b"]]


@pytest.mark.data
@pytest.mark.parametrize("key", ["k1=1.5,b=0.75", "k1=1.2,b=0.75", "k1=0.9,b=0.4"])
def test_it_scores_as_the_library_does(key: str) -> None:
    golden = vectors("bm25.json")
    expected = golden["expected"][key]
    index = Bm25(golden["documents"], expected["k1"], expected["b"])
    for query, scores in zip(golden["queries"], expected["scores_bm25s_lucene"], strict=True):
        assert index.scores(query).tolist() == pytest.approx(scores, rel=1e-9, abs=1e-9)


def test_a_word_of_the_question_counts_as_often_as_it_stands_there() -> None:
    index = Bm25(DOCUMENTS, 0.9, 0.4)
    assert index.scores(["a", "a"]).tolist() == pytest.approx((2 * index.scores(["a"])).tolist())
    assert not index.scores(["unknown"]).any()


def test_the_best_come_first_and_equal_ones_as_in_the_book() -> None:
    index = Bm25(DOCUMENTS, 0.9, 0.4)
    assert index.best(["a"], 3) == [0, 1, 2]
    assert index.best(["b"], 2) == [3, 1]
    assert index.best([], 9) == [0, 1, 2, 3]


@pytest.mark.parametrize("documents", [[[]], [["a"], []]])
def test_an_empty_passage_is_no_trouble(documents: list[list[str]]) -> None:
    assert len(Bm25(documents, 0.9, 0.4).best(["a"], 5)) == len(documents)


def built(n_words: int) -> float:
    words = [f"w{number * number % 9973}" for number in range(n_words)]
    passages = [words[first : first + 200] for first in range(0, n_words, 200)]
    began = time.process_time()
    index = Bm25(passages, 0.9, 0.4)
    for first in range(0, 300, 10):
        index.best(words[first : first + 10], 32)
    return time.process_time() - began


def test_a_long_book_is_ranked_in_far_less_than_a_second_a_question() -> None:
    # The book is read once; thirty questions are asked of it.
    assert built(62_000) / 30 < 0.5


def test_the_cost_is_linear_in_words() -> None:
    built(1_000)
    once, tenfold = min(built(62_000) for _ in range(3)), min(built(620_000) for _ in range(3))
    assert tenfold < 20 * once
