"""How much of an answer passages hold: the best span of its length, and whether all of it is there.

Book QA 5.2: "the maximum ROUGE-L score of all the overlapped subsequences of the same length as the
answer", and "a binary indicator of the appearance of the answer".
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from annotation.metrics.generated_text import ROUGE_BETA

MACHINE_BITS = 63
_WORD = re.compile(r"[^\W_]+")


def words(text: str) -> list[str]:
    """Return the words in lower case; whatever is neither letter nor number parts them.

    Footnote 7 of the paper: lower case, no punctuation. A hyphen and an apostrophe part words, as
    in the tokens of the published answers, and the underscores of emphasis in plain texts go.
    """
    return _WORD.findall(text.lower())


class Held(NamedTuple):
    """What a passage holds of an answer: ROUGE-L of its best span, 0 to 1, and if it has it all."""

    rouge_l: float
    is_there: bool


def held(passage: Sequence[str], answers: Sequence[Sequence[str]]) -> Held:
    """Return what a passage holds of the answer that it holds most of.

    A span has as many words as the answer, so that its precision, recall and F are one number; a
    passage that is shorter is one span. An answer without words is held by none.
    """
    found = [_held_of(passage, answer) for answer in answers if answer and passage]
    if not found:
        return Held(0.0, False)
    return Held(max(one.rouge_l for one in found), any(one.is_there for one in found))


def words_with_places(text: str) -> list[tuple[str, int, int]]:
    """Return the words of `words` with where each begins and ends in the text."""
    return [(found[0].lower(), found.start(), found.end()) for found in _WORD.finditer(text)]


def best_spans(passage: Sequence[str], answer: Sequence[str]) -> tuple[float, int, list[int]]:
    """Return ROUGE-L of the best spans of the answer's length, that length, and their starts.

    The starts in order; none where no word is shared.
    """
    if not answer or set(answer).isdisjoint(passage):
        return 0.0, 0, []
    length, places, shared = _shared(passage, answer)
    most = max(shared)
    starts = [place for place, number in zip(places, shared, strict=True) if number == most]
    return _f(most, length, len(answer)), length, starts


def _held_of(passage: Sequence[str], answer: Sequence[str]) -> Held:
    if set(answer).isdisjoint(passage):
        return Held(0.0, False)
    length, _, shared = _shared(passage, answer)
    most = max(shared)
    return Held(_f(most, length, len(answer)), most == len(answer))


def _f(shared: int, length: int, n_answer: int) -> float:
    precision, recall = shared / length, shared / n_answer
    return (1 + ROUGE_BETA**2) * precision * recall / (recall + ROUGE_BETA**2 * precision)


def _shared(passage: Sequence[str], answer: Sequence[str]) -> tuple[int, list[int], list[int]]:
    """Return the length of spans, the starts of those that share a word, how much each shares."""
    import numpy

    place = {word: at for at, word in enumerate(dict.fromkeys(answer))}
    text = numpy.array([place.get(word, -1) for word in passage])
    length = min(len(answer), len(passage))
    spans = numpy.lib.stride_tricks.sliding_window_view(text, length)
    # Only spans that share a word can share a sequence.
    starts = numpy.flatnonzero((spans >= 0).any(axis=1))
    return length, starts.tolist(), _longest_common(spans[starts], [place[word] for word in answer])


def _longest_common(spans: Any, target: Sequence[int]) -> list[int]:
    """Return the length of the longest common subsequence of `target` and each row.

    All rows at once, a bit for each word of the target (Hyyrö 2004): the cost is linear in words.
    """
    import numpy

    whole = (1 << len(target)) - 1
    # The last one, at -1, is of words that are not in the target.
    masks = [0] * (max(target) + 2)
    for at, word in enumerate(target):
        masks[word] |= 1 << at
    # Python's own integers where a target has more words than a machine word has bits.
    kind = numpy.uint64 if len(target) < MACHINE_BITS else object
    of_word = numpy.array(masks, dtype=kind)
    bits = of_word.dtype.type(whole) if kind is numpy.uint64 else whole
    rows = numpy.full(len(spans), whole, dtype=kind)
    for column in spans.T:
        met = rows & of_word[column]
        rows = ((rows + met) | (rows - met)) & bits
    return [len(target) - int(row).bit_count() for row in rows]
