"""Spans marked in documents, by start and end in code points, half-open."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tasks.work.widgets.problems import Problem

MAIN = "main"
Token = tuple[int, int, bool]
"""start and end in code points; whether it is a word."""

# What tokenizers part from the word before it; without n't that is still a word.
_NOT = re.compile("n['’]t", re.IGNORECASE)
_TAIL = re.compile(r"['’]\w+|n['’]t", re.IGNORECASE)
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_OPENING = {closing: opening for opening, closing in _CLOSING.items()}
_PART = "A mark holds part of a word or half a pair of brackets: mark whole words."


def clean(
    raw: object,
    text_of: Callable[[str], str | None],
    *,
    field: str = "spans",
    most: int = 50,
) -> tuple[list[dict], list[Problem]]:
    """Return spans {"document", "start", "end", "text"} and what is wrong with the others.

    text_of: a document's text by its name ("main" for the passage, "question", an article's
    title), None for a document that may not be marked, as a dictionary's `get`; a span that names
    none is of "main". White space at a span's ends is trimmed, twins are dropped, the order
    of marking is kept, and the text is always the document's own.
    """
    if raw is None:
        return [], []
    if not isinstance(raw, list):
        return [], [Problem("The marks could not be read: mark the words again.", field=field)]
    problems = []
    if len(raw) > most:
        problems.append(Problem(f"There are {len(raw)} marks: keep {most} or fewer.", field=field))
    spans: list[dict] = []
    for entry in raw[:most]:
        span, problem = _clean_one(entry, text_of)
        if problem:
            problems.append(Problem(problem, field=field))
        elif span not in spans:
            spans.append(span)
    return spans, list(dict.fromkeys(problems))


def _clean_one(entry: object, text_of: Callable[[str], str | None]) -> tuple[dict, str]:
    """Return the span and "", or {} and the sentence that refuses it."""
    if not isinstance(entry, dict):
        return {}, "A mark could not be read: mark the words again."
    name = entry.get("document", MAIN)
    text = text_of(name) if isinstance(name, str) else None
    if text is None:
        return {}, "A mark is in a text that does not belong to this question: take it off."
    offsets = _offsets(entry, len(text))
    if offsets is None:
        return {}, "A mark is outside its text: take it off and mark the words again."
    start, end = offsets
    words = text[start:end]
    if "text" in entry and entry["text"] != words:
        return {}, "A mark no longer fits its text: take it off and mark the words again."
    start += len(words) - len(words.lstrip())
    end -= len(words) - len(words.rstrip())
    if start >= end:
        return {}, "A mark holds only spaces: take it off and mark some words."
    return {"document": name, "start": start, "end": end, "text": text[start:end]}, ""


def _offsets(entry: dict, length: int) -> tuple[int, int] | None:
    """Return start and end when they lie in a text of this length, else None."""
    start, end = entry.get("start"), entry.get("end")
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= length:
        return None
    return start, end


def unfit(
    marked: Sequence[Mapping[str, Any]],
    tokens: Sequence[tuple[int, int, bool]],
    most: int,
    *,
    field: str = "spans",
) -> list[Problem]:
    """Return what is wrong with the length or the ends of spans of one text.

    tokens: of the text, (start, end, whether it is a word); most: how many words one may hold.
    """
    for span in marked:
        inside = [one for one in tokens if span["start"] < one[1] and one[0] < span["end"]]
        if not inside or (inside[0][0], inside[-1][1]) != (span["start"], span["end"]):
            return [Problem("A mark cuts through a word: mark whole words.", field=field)]
        n_words = sum(is_word for *_, is_word in inside)
        if n_words > most:
            sentence = f"The passage has {n_words} words: mark {most} or fewer."
            return [Problem(sentence, field=field)]
    return []


def whole(text: str, tokens: Sequence[Token], first: int, last: int) -> tuple[int, int] | None:
    """Return the first and the last of the tokens that are marked with tokens `first` to `last`.

    They begin with no tail of a word ('s, n't), hold all of don't, and neither begin nor end with
    a bracket whose other half is outside. None where nothing is left. The page does the same, in
    hits/text/whole_words.js.
    """
    while first <= last:
        inside = text[tokens[first][0] : tokens[last][1]]
        if _is_half(text[slice(*tokens[first][:2])], inside, _OPENING, _CLOSING):
            first += 1
        elif _is_half(text[slice(*tokens[last][:2])], inside, _CLOSING, _OPENING):
            last -= 1
        else:
            break
    else:
        return None
    while _goes_on(text, tokens, first, _TAIL):
        first -= 1
    while _goes_on(text, tokens, last + 1, _NOT):
        last += 1
    return first, last


def _is_half(token: str, inside: str, never: Mapping[str, str], perhaps: Mapping[str, str]) -> bool:
    """Return whether a bracket at an end of `inside` has its other half outside."""
    return token in never or (
        token in perhaps and inside.count(token) > inside.count(perhaps[token])
    )


def _goes_on(text: str, tokens: Sequence[Token], at: int, tail: re.Pattern[str]) -> bool:
    """Return whether token `at` is such a tail of the word before it."""
    if not 0 < at < len(tokens):
        return False
    _, end, is_word = tokens[at - 1]
    start, stop, _ = tokens[at]
    return is_word and end == start and tail.fullmatch(text, start, stop) is not None


def partial(
    marked: Mapping[str, Any], text: str, tokens: Sequence[Token], *, field: str = "spans"
) -> list[Problem]:
    """Return the problem of a span of whole tokens that are no whole words; see `whole`."""
    inside = [
        at
        for at, (start, end, _) in enumerate(tokens)
        if marked["start"] < end and start < marked["end"]
    ]
    kept = whole(text, tokens, inside[0], inside[-1])
    return [] if kept == (inside[0], inside[-1]) else [Problem(_PART, field=field)]
