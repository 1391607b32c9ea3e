"""How a requester who looks for a minute would judge a qualification submission."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from annotation.protocols.iirc import checks

# One slip is forgiven; a second of the same kind is a habit.
MOST_SLIPS = 1


def inspect(
    kind: str, data: Mapping[str, Any], items: Sequence[Mapping[str, Any]]
) -> tuple[bool, str]:
    """Return whether to grant, and the note: the rule is visible in what was handed in.

    data: cleaned, as it was stored. Questions that are all one question, or that the page's hints
    advise against, are declined; so are marks that cut through words and answers all alike.
    """
    by_id = {item["id"]: item for item in items}
    found = list(_of_questions(data, by_id) if kind == "question" else _of_answers(data, by_id))
    return (False, found[0]) if found else (True, "Does what the instructions ask.")


def _of_questions(data: Mapping[str, Any], items: Mapping[str, Any]) -> Iterator[str]:
    questions = data["questions"]
    if len({re.sub(r"\d+", "", one["text"].casefold()) for one in questions}) < len(questions):
        yield "The questions are one question, numbered: ask something different each time."
    marks = [
        (span, items[one["item"]]["text"]) for one in questions for span in one.get("context", ())
    ]
    if _n_cut(marks) > MOST_SLIPS:
        yield "The marks cut through words: mark whole words that the question needs."
    advised = [one for one in questions if any(checks.advice(0, one, items[one["item"]]))]
    if len(advised) > MOST_SLIPS:
        yield "The page gave advice on several questions that was not followed."


def _of_answers(data: Mapping[str, Any], items: Mapping[str, Any]) -> Iterator[str]:
    given = data["answers"]
    if len(given) > 1 and all(one["type"] == "none" for one in given):
        yield "Every question was given up: open the linked articles and look for the answer."
    marks = [
        (span, items[one["item"]]["passage"]["text"])
        for one in given
        for span in [*one.get("spans", ()), *one.get("context", ())]
        if span["document"] == "main"
    ]
    if _n_cut(marks) > MOST_SLIPS:
        yield "The marks cut through words: mark the answer and its evidence as whole words."


def _n_cut(marks: Iterable[tuple[Mapping[str, Any], str]]) -> int:
    """Return how many spans begin or end inside a word."""
    return sum(
        _inside_a_word(text, span["start"]) or _inside_a_word(text, span["end"])
        for span, text in marks
    )


def _inside_a_word(text: str, at: int) -> bool:
    # Scripts without capitals do not all put spaces between words.
    around = text[max(0, at - 1) : at + 1]
    return 0 < at < len(text) and all(letter.lower() != letter.upper() for letter in around)
