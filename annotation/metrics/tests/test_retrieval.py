"""Retrieval is measured as the public evaluator does, that of TREC and BEIR, to 1e-9."""

from typing import Any

import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from annotation.metrics import retrieval

pytestmark = pytest.mark.pure
PASSAGES = st.sampled_from([f"a b{number}#{number}".replace(" ", "%20") for number in range(14)])
QUERIES = st.sampled_from(["q1", "q2", "q3"])
# Few scores, so that many are equal; and some that are equal in single precision alone.
SCORES = st.sampled_from([0.0, 1.0, 1.00000001, 2.5, -1.0, 17.25, 17.250000001])
QRELS = st.dictionaries(
    QUERIES, st.dictionaries(PASSAGES, st.integers(0, 3), min_size=1), min_size=1
)
RUNS = st.dictionaries(QUERIES, st.dictionaries(PASSAGES, SCORES, min_size=1), min_size=1)


def official(qrels: Any, run: Any) -> dict[str, float]:
    """Return pytrec_eval's means over all queries that have an answer."""
    cuts = {
        "ndcg_cut": retrieval.NDCG_CUTS,
        "recall": retrieval.RECALL_CUTS,
        "success": retrieval.HIT_CUTS,
    }
    measures = {f"{name}.{','.join(map(str, cut))}" for name, cut in cuts.items()} | {"recip_rank"}
    found = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
    asked = [
        query for query, grades in qrels.items() if any(grade > 0 for grade in grades.values())
    ]
    names = [f"{name}_{cut}" for name, of in cuts.items() for cut in of] + ["recip_rank"]
    return {
        name: sum(found.get(query, {}).get(name, 0.0) for query in asked) / max(len(asked), 1)
        for name in names
    }


@given(QRELS, RUNS)
def test_it_is_what_the_public_evaluator_finds(qrels: Any, run: Any) -> None:
    ours = retrieval.evaluate(qrels, run)
    assert {name: ours[name] for name in official(qrels, run)} == pytest.approx(
        official(qrels, run), abs=1e-9
    )


def test_all_evidence_counts_only_where_every_passage_of_it_was_found() -> None:
    qrels = {"q": {"a": 1, "b": 1}, "r": {"a": 1}, "nothing": {"a": 0}}
    run = {"q": {"a": 3.0, "c": 2.0, "b": 1.0}, "r": {"b": 1.0}}
    measured = retrieval.evaluate(qrels, run)
    assert (measured["all_5"], measured["success_1"], measured["recall_5"]) == (0.5, 0.5, 0.5)
    assert retrieval.reciprocal_rank(["b", "a"], {"a": 1}, 1) == 0.0
    assert retrieval.evaluate({}, run)["recip_rank"] == 0.0
