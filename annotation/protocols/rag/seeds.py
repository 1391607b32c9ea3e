"""Which sets of passages are asked about: those that rare words, citations or sections connect."""

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

from collector.models import Corpus
from collector.retrieval.file_format import RetrievalError
from collector.seeds.candidate import Offered
from collector.seeds.passage_sets.corpus import passage_sets
from common.actions import ActionError

if TYPE_CHECKING:
    from annotation.protocols.rag.parameters import Parameters

NOUN = "set of passages"
FOR_DOCUMENTS = True


def candidates(corpus: Corpus, parameters: "Parameters", rng: random.Random) -> Offered:
    """Return sets of one to three passages in the order drawn, none of which shares a passage.

    The payload has the "rule" that drew it, the words "shared" and the group of documents that are
    in one fold. Raises ActionError for a corpus that is not read to its end.
    """
    try:
        return passage_sets(corpus, parameters.seeds, rng)
    except RetrievalError as error:
        raise ActionError(str(error)) from None


def text_of(texts: Sequence[str]) -> str:
    """Return the text of a set: its passages."""
    return "\n".join(texts)
