"""How well a system ranks passages: the measures of trec_eval, as pytrec_eval and BEIR take them.

A run is what a system found for each query: the score of each passage that it names. Relevance is
told by qrels: of each query the passages that answer it. Passages are ranked as trec_eval does: by
score, those of equal score by their id, the last of the alphabet first, whatever rank was written.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from annotation.metrics.summation import plain_sum

Run = Mapping[str, Mapping[str, float]]
Qrels = Mapping[str, Mapping[str, int]]
NDCG_CUTS = (1, 3, 5, 10)
RECALL_CUTS = (5, 10, 20, 100)
HIT_CUTS = (1, 5, 10)


def ranked(scores: Mapping[str, float]) -> list[str]:
    """Return the passages that a system found for one query, best first.

    Scores are compared in single precision, as trec_eval holds them.
    """
    import numpy

    names = sorted(scores, reverse=True)
    values = numpy.array([scores[name] for name in names], "<f8").astype("<f4")
    return [names[at] for at in numpy.argsort(-values, kind="stable").tolist()]


def ndcg(found: Sequence[str], relevance: Mapping[str, int], cut: int) -> float:
    """Return the discounted gain of the first `cut`, as a share of the best there could be.

    The gain is the relevance, the discount log2(rank + 1).
    """
    gains = [max(relevance.get(passage, 0), 0) for passage in found[:cut]]
    best = sorted((each for each in relevance.values() if each > 0), reverse=True)[:cut]
    return _discounted(gains) / _discounted(best) if best else 0.0


def recall(found: Sequence[str], relevance: Mapping[str, int], cut: int) -> float:
    """Return how much of what is relevant is among the first `cut`."""
    wanted = {passage for passage, grade in relevance.items() if grade > 0}
    return len(wanted.intersection(found[:cut])) / len(wanted) if wanted else 0.0


def hit(found: Sequence[str], relevance: Mapping[str, int], cut: int) -> float:
    """Return 1.0 where anything relevant is among the first `cut`, else 0.0."""
    return float(any(relevance.get(passage, 0) > 0 for passage in found[:cut]))


def whole(found: Sequence[str], relevance: Mapping[str, int], cut: int) -> float:
    """Return 1.0 where all that is relevant is among the first `cut`, else 0.0."""
    return float(recall(found, relevance, cut) == 1.0)


def reciprocal_rank(found: Sequence[str], relevance: Mapping[str, int], cut: int = 0) -> float:
    """Return 1 / the rank of the first that is relevant, 0.0 where none is; cut: 0 for all."""
    for rank, passage in enumerate(found[:cut] if cut else found, 1):
        if relevance.get(passage, 0) > 0:
            return 1 / rank
    return 0.0


def evaluate(qrels: Qrels, run: Run) -> dict[str, float]:
    """Return the mean of each measure over the queries of `qrels`, from 0 to 1.

    A query that the run has nothing for counts 0; one with nothing relevant is left out. The keys
    are trec_eval's: `ndcg_cut_10`, `recall_100`, `recip_rank`, `success_1` (hits), and of our own
    `all_10`, the share of queries of which all that is relevant is among the first ten.
    """
    measures: dict[str, Callable[[Sequence[str], Mapping[str, int]], float]] = {}
    for name, measure, cuts in (
        ("ndcg_cut", ndcg, NDCG_CUTS),
        ("recall", recall, RECALL_CUTS),
        ("success", hit, HIT_CUTS),
        ("all", whole, HIT_CUTS[1:]),
    ):
        for cut in cuts:
            measures[f"{name}_{cut}"] = partial(measure, cut=cut)
    measures["recip_rank"] = reciprocal_rank
    asked = {
        query: relevance
        for query, relevance in qrels.items()
        if any(grade > 0 for grade in relevance.values())
    }
    found = {query: ranked(run.get(query, {})) for query in asked}
    return {
        name: plain_sum([measure(found[query], asked[query]) for query in asked]) / len(asked)
        if asked
        else 0.0
        for name, measure in measures.items()
    }


def _discounted(gains: Sequence[int]) -> float:
    return plain_sum([gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1)])
