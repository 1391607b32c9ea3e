"""Spans marked in documents, by start and end in code points, half-open."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tasks.widgets.problems import Problem

MAIN = "main"


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
