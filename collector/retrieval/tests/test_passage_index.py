"""Passages are found by the definition of BM25 and of tf-idf, in scripts of several kinds."""

import math
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.retrieval import passages
from collector.retrieval.index import RetrievalError
from collector.retrieval.passages import K1, B, PassageIndex, build
from collector.retrieval.terms import terms

pytestmark = pytest.mark.pure
FEW_WORDS = st.lists(st.sampled_from("ash bay cove dune the of é elm fen".split()), max_size=12)
TEXTS = st.lists(FEW_WORDS.map(" ".join), min_size=1, max_size=30)


def made(texts: Iterable[str]) -> PassageIndex:
    """Return the index of the texts, whose ids are 100, 101, …"""
    with tempfile.TemporaryDirectory() as folder:
        return PassageIndex(build(Path(folder), enumerate(texts, 100)))


def bm25(texts: list[str], query: str) -> list[float]:
    """Return the score of every text by the definition alone."""
    counted = [Counter(terms(text)) for text in texts]
    mean = max(sum(counts.total() for counts in counted) / len(texts), 1.0)
    scores = [0.0] * len(texts)
    for term in terms(query):
        n = sum(term in counts for counts in counted)
        idf = math.log(1 + (len(texts) - n + 0.5) / (n + 0.5))
        for at, counts in enumerate(counted):
            tf = counts[term]
            scores[at] += idf * tf * (K1 + 1) / (tf + K1 * (1 - B + B * counts.total() / mean))
    return scores


def cosines(texts: list[str], query: str) -> list[float]:
    """Return the cosine of every text's vector with the query's, but for the query's length."""
    counted = [Counter(terms(text)) for text in texts]

    def vector(counts: Counter[str]) -> dict[str, float]:
        found = {}
        for term, tf in counts.items():
            n = sum(term in other for other in counted)
            if n:
                found[term] = (1 + math.log(tf)) * (1 + math.log((1 + len(texts)) / (1 + n)))
        return found

    asked = vector(Counter(terms(query)))
    scores = []
    for own in map(vector, counted):
        length = math.sqrt(sum(weight * weight for weight in own.values()))
        scores.append(sum(asked[t] * own.get(t, 0.0) for t in asked) / length if length else 0.0)
    return scores


@settings(max_examples=40, deadline=None)
@given(TEXTS, FEW_WORDS.map(" ".join), st.integers(1, 40))
def test_scores_are_those_of_the_definitions(texts: list[str], query: str, k: int) -> None:
    index = made(texts)
    for search, literal in ((index.search, bm25), (index.search_tf_idf, cosines)):
        expected = literal(texts, query)
        hits = search(query, k)
        assert [hit.score for hit in hits] == pytest.approx(
            sorted((score for score in expected if score > 0), reverse=True)[:k]
        )
        assert all(expected[hit.text] == pytest.approx(hit.score) for hit in hits)
    assert list(index.ids) == [100 + at for at in range(len(texts))]


def test_many_batches_make_the_index_that_one_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["ash bay", "bay bay cove", "", "dune", "cove ash ash", "bay fen"]
    whole = made(texts)
    monkeypatch.setattr(passages, "TEXTS_AT_ONCE", 2)
    in_batches = made(texts)
    for query in ("ash", "bay cove", "fen fen dune", "nowhere"):
        assert whole.search(query, 9) == in_batches.search(query, 9)
        assert whole.search_tf_idf(query, 9) == in_batches.search_tf_idf(query, 9)
    assert in_batches.n_with("bay") == 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Café, CAFE: naïve—1871!", ["the", "cafe", "cafe", "naive", "1871"]),
        ("Ёлка и йод", ["елка", "и", "иод"]),
        ("مُحَمَّدٌ كتــاب إلى", ["محمد", "كتاب", "الي"]),
        ("東京タワー2号", ["東京", "京タ", "タワ", "ワー", "2", "号"]),
        ("한국어는", ["한국", "국어", "어는"]),
        ("हिन्दी", ["हिन्दी"]),
    ],
)
def test_terms_are_those_that_a_searcher_would_type(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("texts", "query"),
    [
        (["بُنيت المنارة سنة ١٩٠٤", "تقع المدينة على البحر"], "المنارة"),
        (["灯台は一九〇四年に建てられた。", "町は海に面している。"], "灯台"),
        (["灯塔建于一九〇四年。", "小城临海。"], "灯塔是哪年建的"),
        (["המגדלור נבנה בשנת 1904", "העיר שוכנת לחוף הים"], "מגדלור המגדלור"),
    ],
)
def test_a_passage_of_any_script_is_found_by_its_words(texts: list[str], query: str) -> None:
    assert [hit.text for hit in made(texts).search(query, 1)] == [0]


def test_a_file_that_is_no_index_is_named(tmp_path: Path) -> None:
    (tmp_path / "cut").write_bytes(b"{}")
    with pytest.raises(RetrievalError, match="cut cannot be read"):
        PassageIndex(tmp_path / "cut")
