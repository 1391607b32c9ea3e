"""Scores are DrQA's and candidates Algorithm 2's, for the golden files and for any texts."""

import tempfile
from collections import Counter
from collections.abc import Iterable
from math import log, log1p
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.metrics.tests.golden import vectors
from collector.retrieval import files, index
from collector.retrieval.files import build
from collector.retrieval.index import Index, RetrievalError, key_of
from collector.retrieval.terms import bucket, grams

pytestmark = pytest.mark.pure
# Every example builds an index of the real number of buckets.
few = settings(max_examples=25)
FEW_WORDS = st.lists(st.sampled_from("ash bay cove dune the of , é elm fen".split()), max_size=12)
TEXTS = st.lists(FEW_WORDS.map(" ".join), min_size=1, max_size=30)


def made(texts: Iterable[str]) -> Index:
    """Return the index of the texts, whose ids are 100, 101, …"""
    with tempfile.TemporaryDirectory() as folder:
        return Index(build(Path(folder), enumerate(texts, 100)))


def literal_scores(texts: list[str], question: str) -> list[float]:
    """Return the score of every text by the definition alone (FORMATS 7)."""
    counted = [Counter(map(bucket, grams(text))) for text in texts]
    scores = [0.0] * len(texts)
    for number, n_times in Counter(map(bucket, grams(question))).items():
        n = sum(number in counts for counts in counted)
        idf = max(0.0, log((len(texts) - n + 0.5) / (n + 0.5)))
        for at, counts in enumerate(counted):
            scores[at] += log1p(n_times) * idf * log1p(counts[number]) * idf
    return scores


def literal_filter(texts: list[str], question: str, at_most: int) -> list[int]:
    """Return what Algorithm 2 returns, step by step as it is printed (HotpotQA C.1)."""
    inverted: dict[str, set[int]] = {}
    for at, text in enumerate(texts):
        for gram in grams(text):
            inverted.setdefault(gram, set()).add(at)
    least = 0
    while True:
        least += 1
        overlap: Counter[int] = Counter()
        for gram in set(grams(question)):
            overlap.update(inverted.get(gram, ()))
        candidates = sorted(at for at, shared in overlap.items() if shared >= least)
        if len(candidates) <= at_most:
            return candidates


def test_golden_scores_are_equal() -> None:
    golden = vectors("drqa_tfidf.json")
    names = {name: at for at, name in enumerate(golden["docs"])}
    indexed = made(golden["docs"].values())
    for query in golden["queries"]:
        found = indexed.search(query["query"], len(names))
        assert len(found) == query["n_scored"]
        score_of = {each.text: each.score for each in found}
        expected = [score for _, score in query["scores_top15"]]
        assert [each.score for each in found[:15]] == pytest.approx(expected, abs=1e-8)
        for name, score in query["scores_top15"]:
            assert score_of[names[name]] == pytest.approx(score, abs=1e-8)


def test_golden_candidates_are_equal() -> None:
    golden = vectors("hotpot_algo2.json")
    indexes: dict[int, tuple[list[str], Index]] = {}
    for case in golden["cases"]:
        if case["docs_ix"] not in indexes:
            docs = case["docs"]
            indexes[case["docs_ix"]] = list(docs), made(docs.values())
        names, indexed = indexes[case["docs_ix"]]
        found = [names[at] for at in indexed.filter(case["query"], case["N"])]
        assert sorted(found) == sorted(case["candidates"])


@few
@given(TEXTS, FEW_WORDS.map(" ".join), st.integers(1, 8), st.sampled_from([0, 3, 1 << 20]))
def test_the_best_are_those_of_the_definition_however_little_is_looked_at(
    texts: list[str], question: str, k: int, long: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index, "LONG", long)
        indexed = made(texts)
        found = indexed.search(question, k)
    scores = literal_scores(texts, question)
    best = sorted((at for at in range(len(texts)) if scores[at] > 0), key=lambda at: -scores[at])
    assert [each.score for each in found] == pytest.approx([scores[at] for at in best[:k]])
    assert [each.score for each in found] == pytest.approx([scores[each.text] for each in found])
    everything = list(range(len(texts)))
    ranked = indexed.rank(question, everything)
    assert sorted(each.text for each in ranked) == everything
    assert [each.score for each in ranked] == pytest.approx(sorted(scores, reverse=True))


@few
@given(TEXTS, FEW_WORDS.map(" ".join), st.integers(0, 8))
def test_candidates_are_those_of_the_printed_algorithm(
    texts: list[str], question: str, at_most: int
) -> None:
    found = made(texts).filter(question, at_most)
    assert found.tolist() == literal_filter(texts, question, at_most)


@few
@given(TEXTS)
def test_the_same_texts_are_the_same_bytes_in_any_portions(texts: list[str]) -> None:
    whole = _bytes(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "TEXTS_AT_ONCE", 3)
        assert _bytes(texts) == whole


def _bytes(texts: list[str]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return build(Path(folder), enumerate(texts)).read_bytes()


def test_a_word_counts_as_often_as_it_is_there() -> None:
    texts = ["bay " * n for n in (1, 254, 255, 70_000)] + ["cove"] * 9
    found = {each.text: each.score for each in made(texts).search("bay cove", 20)}
    assert [found[at] for at in range(4)] == pytest.approx(literal_scores(texts, "bay cove")[:4])


def test_n_grams_of_one_bucket_weigh_together_and_are_told_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = ["ash bay", "cove", "bay elm", "dune fen ash", *["fen"] * 8]
    monkeypatch.setattr("collector.retrieval.terms.N_BUCKETS", 2)
    monkeypatch.setattr("collector.retrieval.index.N_BUCKETS", 2)
    indexed = made(texts)
    assert {bucket(gram) for text in texts for gram in grams(text)} == {0, 1}
    assert len({key_of(gram) for text in texts for gram in grams(text)}) == len(
        {gram for text in texts for gram in grams(text)}
    )
    for question in ("ash bay", "cove dune", "elm"):
        found = {each.text: each.score for each in indexed.search(question, 20)}
        expected = literal_scores(texts, question)
        assert found == pytest.approx({at: each for at, each in enumerate(expected) if each > 0})
        assert indexed.filter(question, 9).tolist() == literal_filter(texts, question, 9)


def test_no_texts_are_an_index_in_which_nothing_is_found() -> None:
    indexed = made([])
    assert indexed.search("harbour", 8) == []
    assert indexed.rank("harbour", indexed.filter("harbour", 5)) == []


def test_another_file_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "x.index"
    path.write_text("no index")
    with pytest.raises(RetrievalError, match=r"delete it and build it again with build_index"):
        Index(path)
