"""What a careful reader of a section would mark for a question: the sentence that fits it best."""

import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tasks.simulation.behaviour import Behaviour

WORD = re.compile(r"\w+")
ASKS_YES_OR_NO = re.compile(
    r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b", re.IGNORECASE
)
# Words that say nothing of what a question is about.
EMPTY = frozenset(
    "a an the of in on at to for from by with and or as is are was were be been do does did has "
    "have had he she it they his her its their him them who what which when where why how many "
    "much that this any there not no".split()
)
Span = tuple[int, int]
# (start, end, whether it is a word).
Token = tuple[int, int, bool]


def answer(
    question: str,
    passage: Mapping[str, Any],
    told: Sequence[int],
    behaviour: Behaviour,
    rng: random.Random,
    *,
    max_tokens: int,
) -> dict[str, Any]:
    """Return {"type", "spans", "affirmation", "continuation"} as a page would send it.

    passage: {"text", "tokens", "sentences"}. told: where the answers began that the teacher gave
    before. Careful readers of one question mark nearly the same words, whatever their `rng`: the
    best sentence that was not told yet, or its second half.
    """
    sentences = [(start, end) for start, end in passage["sentences"]]
    fresh = [span for span in sentences if not any(span[0] <= at < span[1] for at in told)]
    found = best_sentence(question, passage["text"], fresh)
    if rng.random() < behaviour.nonsense:
        found = rng.choice(sentences)
    elif rng.random() < behaviour.gives_up:
        found = None
    elif rng.random() < behaviour.wrong_answer:
        found = rng.choice(sentences)
    if found is None:
        return {"type": "none", "spans": [], "affirmation": "neither", "continuation": "dont"}
    start, end = cut(found, passage["tokens"], max_tokens)
    if rng.random() < behaviour.partial_evidence:
        start, end = second_half((start, end), passage["tokens"])
    span = {"document": "section", "start": start, "end": end, "text": passage["text"][start:end]}
    return {
        "type": "span",
        "spans": [span],
        "affirmation": "yes" if ASKS_YES_OR_NO.match(question) else "neither",
        "continuation": rng.choice(("follow_up", "maybe", "dont")),
    }


def best_sentence(question: str, text: str, spans: Sequence[Span]) -> Span | None:
    """Return the sentence that shares most words with the question; None when there is none left.

    An open question, which shares none with any, is answered by what comes next in the text.
    """
    asked = telling(question)
    shared = [(len(asked & telling(text[slice(*span)])), span) for span in spans]
    most = max((number for number, _ in shared), default=0)
    if not most and ASKS_YES_OR_NO.match(question):
        return None
    return next((span for number, span in shared if number == most), None)


def cut(span: Span, tokens: Sequence[Token], most: int) -> Span:
    """Return the span shortened to at most so many tokens, of which signs are some."""
    inside = [token for token in tokens if span[0] <= token[0] and token[1] <= span[1]]
    kept = inside[:most]
    return (kept[0][0], kept[-1][1]) if kept else span


def second_half(span: Span, tokens: Sequence[Token]) -> Span:
    """Return the later half of the span, in whole tokens."""
    inside = [token for token in tokens if span[0] <= token[0] and token[1] <= span[1]]
    later = inside[len(inside) // 2 :]
    return (later[0][0], later[-1][1]) if later else span


def telling(text: str) -> set[str]:
    """Return the words of a text that say what it is about, in lower case."""
    return set(WORD.findall(text.casefold())) - EMPTY
