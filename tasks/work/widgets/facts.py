"""The sentences that prove an answer: each by its paragraph and its number in it, from 0."""

from collections.abc import Mapping, Sequence
from typing import Any

from tasks.work.widgets.problems import Problem


def clean(
    raw: object, paragraphs: Sequence[Mapping[str, Any]], *, field: str = "facts"
) -> tuple[list[list[int]], list[Problem]]:
    """Return [[paragraph, sentence], …], each once, in reading order, and what is wrong.

    paragraphs: each with its "document", as text a number from 0, and its "sentences".
    """
    if raw is None:
        return [], []
    if not isinstance(raw, list):
        return [], [Problem("The sentences could not be read: pick them again.", field=field)]
    known = {
        (int(paragraph["document"]), number)
        for paragraph in paragraphs
        for number in range(len(paragraph["sentences"]))
    }
    picked = {_place(entry) for entry in raw}
    problems = []
    if not picked <= known:
        sentence = "A picked sentence is not in these paragraphs: pick the sentences again."
        problems.append(Problem(sentence, field=field))
    return [list(place) for place in sorted(picked & known)], problems


def _place(entry: object) -> tuple[int, int]:
    """Return an entry's paragraph and sentence; anything else is in no paragraph."""
    if not isinstance(entry, list) or [type(number) for number in entry] != [int, int]:
        return -1, -1
    return entry[0], entry[1]
