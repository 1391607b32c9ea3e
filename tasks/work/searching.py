"""What workers with a search box find in the collection's corpus: passages, each with a snippet."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from collector.models import Corpus, Stage
from collector.protocols.creation import parameters_of
from collector.protocols.stage_tables import SearchAnswerTable
from collector.retrieval.passages import search
from collector.retrieval.terms import has_unparted, terms
from tasks.work.cited_passages import passages
from tasks.work.kinds.kind import table_as

# As long as three lines beside a search box.
SNIPPET_CHARACTERS = 220
# How much of a snippet stands before the words that were looked for.
LEAD = 60
MOST_CHARACTERS = 1_000
# With the points and accents on its letters.
_WORD = re.compile(
    r"\w(?:\w|[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed])*"
)


def results_of(stage: Stage, query: str) -> list[dict[str, Any]]:
    """Return the passages of the corpus that have the query's words, the best first.

    Each has the name under which it is cited, its title, section and page, and a snippet with
    what of it was looked for. Raises RetrievalError where the corpus cannot be searched.
    """
    collection, query = stage.collection, query.strip()
    table = table_as(parameters_of(collection).stages()[stage.name], SearchAnswerTable)
    corpus = Corpus.objects.get(pk=collection.corpus_id)
    query = query[:MOST_CHARACTERS]
    found = search(corpus, query, table.results_per_search) if query else []
    known = passages(hit.paragraph_id for hit in found)
    return [_result(known[hit.paragraph_id], query) for hit in found if hit.paragraph_id in known]


def _result(passage: Mapping[str, Any], query: str) -> dict[str, Any]:
    told = {name: value for name, value in passage.items() if name != "text"}
    return {**told, **snippet(str(passage["text"]), query)}


def snippet(text: str, query: str) -> dict[str, Any]:
    """Return {"snippet", "hits"}: a piece of the text, and [start, end] of the query's words in it.

    The piece begins a little before the first of these words, where a word begins.
    """
    hits = _hits(text, query)
    start = max(0, hits[0][0] - LEAD) if hits else 0
    start = _edge(text, start)
    end = min(len(text), start + SNIPPET_CHARACTERS)
    before, behind = "… " * (start > 0), " …" * (end < len(text))
    shift = len(before) - start
    return {
        "snippet": f"{before}{text[start:end]}{behind}",
        "hits": [[at + shift, to + shift] for at, to in hits if start <= at and to <= end],
    }


def _hits(text: str, query: str) -> list[tuple[int, int]]:
    """Return where the query's words begin words of a text, alike by what passages are found by:

    whatever accents, points and forms of letters they are written with there.
    """
    words = sorted({word.lower() for word in _WORD.findall(query)}, key=len, reverse=True)
    looked_for = re.compile("|".join(map(re.escape, words)) or r"(?!)", re.IGNORECASE)
    hits = [hit.span() for hit in looked_for.finditer(text) if _begins_a_word(text, *hit.span())]
    if text.isascii():
        return hits
    wanted, begun = set(terms(query)), {start for start, _ in hits}
    for word in _WORD.finditer(text):
        if word[0].isascii() or word.start() in begun or has_unparted(word[0]):
            continue
        if not wanted.isdisjoint(_terms(word[0])):
            hits.append(word.span())
    return sorted(hits)


def _begins_a_word(text: str, start: int, end: int) -> bool:
    """Return whether a match begins where a word does, or has a script that parts no words."""
    return start == 0 or not text[start - 1].isalnum() or has_unparted(text[start])


@lru_cache(20_000)
def _terms(word: str) -> tuple[str, ...]:
    """Return a word's terms; most words of a text come again and again."""
    return tuple(terms(word))


def _edge(text: str, start: int) -> int:
    """Return where a word begins, at a place of the text or soon behind it."""
    if start == 0:
        return 0
    blank = text.find(" ", start, start + LEAD)
    return start if blank < 0 else blank + 1
