"""Which sets of passages are asked about: those that rare words, citations or sections connect."""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from collector.models import Corpus
from collector.retrieval.index import RetrievalError
from collector.seeds.candidate import Offered
from collector.seeds.passage_sets import passage_sets, set_counter
from common.actions import ActionError

if TYPE_CHECKING:
    from annotation.protocols.rag.parameters import Parameters

NOUN = "set of passages"
FOR_DOCUMENTS = True
# Of documents that are made from one template passages are nearly the same.
LOOSEST = {"near_duplicate_share": 0.9}


def candidates(corpus: Corpus, parameters: "Parameters", rng: random.Random) -> Offered:
    """Return sets of one to three passages in the order drawn, none of which shares a passage.

    The payload has the "rule" that drew it, the words "shared" and the group of documents that are
    in one fold. Raises ActionError for a corpus that is not read to its end.
    """
    return candidates_beside(corpus, parameters, rng, {})


def candidates_beside(
    corpus: Corpus, parameters: "Parameters", rng: random.Random, folds: Mapping[int, str]
) -> Offered:
    """Return the same, no set or near duplicate connecting documents of two folds."""
    try:
        return passage_sets(corpus, parameters.seeds, rng, folds)
    except RetrievalError as error:
        raise ActionError(str(error)) from None


def counter(corpus: Corpus) -> "Callable[[Parameters], int] | None":
    """Return what counts the sets that can be drawn, None where that takes too long."""
    count = set_counter(corpus)
    return None if count is None else lambda parameters: count(parameters.seeds)


def texts_of(texts: Sequence[str]) -> Sequence[str]:
    """Return the text of a set: its passages."""
    return ["\n".join(texts)]
