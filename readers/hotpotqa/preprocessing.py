"""Questions of official files as the network reads them: one context, its tokens, the gold span.

The layout is that of the official code (hotpotqa/hotpot, prepro.py): for each paragraph its title
as a sentence of its own between <t> and </t>, then its sentences, joined by nothing.
"""

import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from sys import intern
from typing import Any

from readers.learners.tokens import tokens

SPAN, YES, NO = range(3)
KINDS = {"yes": YES, "no": NO}
# Which number a paragraph's title has among its sentences.
TITLE = -1
OPENING, CLOSING = "<t>", "</t>"
# What stands for the context of a question that retrieval found nothing for.
NOTHING_FOUND = ("some random title", ("some random stuff",))
FAR = float("inf")

Offsets = tuple[int, int]
Tokenize = Callable[[str], list[Offsets]]
# Title, and each sentence with its number in the official paragraph.
Paragraph = tuple[str, tuple[tuple[int, str], ...]]


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a context, or a title with the number TITLE; half-open tokens."""

    title: str
    number: int
    first: int
    end: int
    is_fact: bool


@dataclass(frozen=True, slots=True)
class Instance:
    """A question with its context in tokens, from `starts` to `ends` of `text` in code points.

    span: first and last token of the answer; None for yes and no, and where the context has not the
    answer's words. Ninety thousand of a thousand tokens each are held at once: hence arrays, and
    words that are one object wherever they stand.
    """

    id: str
    question: tuple[str, ...]
    text: str
    tokens: tuple[str, ...]
    starts: "array[int]"
    ends: "array[int]"
    sentences: tuple[Sentence, ...]
    answer: str
    kind: int
    span: Offsets | None


def tokenizer(language: str = "en") -> Tokenize:
    """Return what cuts a text into tokens: spaCy's rules, white space between them kept."""
    return lambda text: [(start, end) for _, start, end in tokens(text, language, spaces=True)]


def instances(
    items: Iterable[Mapping[str, Any]],
    tokenize: Tokenize,
    paragraphs: Callable[[Mapping[str, Any]], list[Paragraph]] | None = None,
) -> Iterator[Instance]:
    """Yield each question of an official file; test files, which have no answers, too.

    tokenize: the offsets of a text's tokens, white space among them. paragraphs: which part of an
    item is read, everything by default.
    """
    for item in items:
        yield instance(item, (paragraphs or whole_context)(item), tokenize)


def whole_context(item: Mapping[str, Any]) -> list[Paragraph]:
    """Return all paragraphs of a question."""
    found = item["context"] or [NOTHING_FOUND]
    return [(title, tuple(enumerate(sentences))) for title, sentences in found]


def gold_paragraphs(item: Mapping[str, Any]) -> list[Paragraph]:
    """Return the paragraphs with supporting facts (T7, "gold only"), all where none is there."""
    gold = {title for title, _ in item["supporting_facts"]}
    return [each for each in whole_context(item) if each[0] in gold] or whole_context(item)


def supporting_facts(item: Mapping[str, Any]) -> list[Paragraph]:
    """Return the supporting facts, each under its title (T7, "sup fact only").

    All of the context where none of them is there.
    """
    gold = _gold_facts(item)
    found = [
        (title, tuple((number, text) for number, text in sentences if (title, number) in gold))
        for title, sentences in whole_context(item)
    ]
    return [each for each in found if each[1]] or whole_context(item)


def instance(
    item: Mapping[str, Any], paragraphs: Sequence[Paragraph], tokenize: Tokenize
) -> Instance:
    """Return one question with these of its paragraphs."""
    gold = _gold_facts(item)
    text, words, offsets, sentences = "", list[str](), list[Offsets](), list[Sentence]()
    for title, numbered in paragraphs:
        for number, sentence in ((TITLE, title), *numbered):
            written, found = _sentence(sentence, number, tokenize)
            first = len(words)
            words += [intern(written[start:end]) for start, end in found]
            offsets += [(len(text) + start, len(text) + end) for start, end in found]
            is_fact = number != TITLE and (title, number) in gold
            sentences.append(Sentence(title, number, first, len(words), is_fact))
            text += written
    question = str(item["question"])
    answer = str(item.get("answer", "")).strip()
    kind = KINDS.get(answer.lower(), SPAN)
    return Instance(
        id=item["_id"],
        question=tuple(question[start:end] for start, end in tokenize(question)) or ("",),
        text=text,
        tokens=tuple(words),
        starts=array("I", (start for start, _ in offsets)),
        ends=array("I", (end for _, end in offsets)),
        sentences=tuple(sentences),
        answer=answer,
        kind=kind,
        span=answer_span(text, offsets, answer) if kind == SPAN else None,
    )


def _gold_facts(item: Mapping[str, Any]) -> set[tuple[str, int]]:
    return {(title, number) for title, number in item.get("supporting_facts", ())}


def _sentence(words: str, number: int, tokenize: Tokenize) -> tuple[str, list[Offsets]]:
    """Return a sentence as it is written into the context, and the offsets of its tokens."""
    found = tokenize(words)
    if number != TITLE:
        return words, found
    before = len(OPENING) + 1
    written = f"{OPENING} {words} {CLOSING}"
    inside = [(start + before, end + before) for start, end in found]
    return written, [
        (0, len(OPENING)),
        *inside,
        (len(written) - len(CLOSING), len(written)),
    ]


def answer_span(text: str, offsets: Sequence[Offsets], answer: str) -> Offsets | None:
    """Return the first and last token of the answer's first occurrence closest to whole tokens.

    None where the text does not have it.
    """
    if not answer or answer not in text:
        return None
    begins, ends = [start for start, _ in offsets], [end for _, end in offsets]
    closest, found = FAR, (0, 0)
    for match in re.finditer(re.escape(answer), text):
        start, end = match.span()
        begin, before = _nearest(begins, start, range(end))
        stop, after = _nearest(ends, end, range(start + 1, len(text) + 1))
        if before + after < closest:
            closest, found = before + after, (begin, stop)
            if not closest:
                break
    inside = [at for at, (start, end) in enumerate(offsets) if start < found[1] and end > found[0]]
    return (inside[0], inside[-1]) if inside else None


def _nearest(places: Sequence[int], wanted: int, allowed: range) -> tuple[int, float]:
    """Return the place nearest to the wanted one and how far it is; of equals the later one."""
    at = bisect_left(places, wanted)
    if at == 0 or at == len(places):
        place = places[min(at, len(places) - 1)]
        return place, abs(place - wanted)
    distances = [
        abs(place - wanted) if place in allowed else FAR for place in places[at - 1 : at + 1]
    ]
    before, after = distances
    return (places[at - 1], before) if after > before else (places[at], after)


def shortened(found: Instance, most: int, most_asked: int) -> Instance:
    """Return the instance with at most so many tokens of context and of question.

    The context is cut after a whole sentence; an answer or facts beyond that are not in it.
    """
    kept = [each for each in found.sentences if each.end <= most]
    if len(kept) == len(found.sentences) and len(found.question) <= most_asked:
        return found
    if not kept:
        kept = [replace(found.sentences[0], end=most)]
    end = kept[-1].end
    return replace(
        found,
        question=found.question[:most_asked],
        tokens=found.tokens[:end],
        starts=found.starts[:end],
        ends=found.ends[:end],
        sentences=tuple(kept),
        span=found.span if found.span and found.span[1] < end else None,
    )
