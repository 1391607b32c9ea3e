"""How a requester who looks for a minute would judge a qualification submission."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from annotation.protocols.iirc.simulation.answering import MAIN, Opener, find, opened
from annotation.protocols.iirc.simulation.writing import is_advised_against
from tasks.work.widgets.evidence import is_inside_word

PROVEN = ("span", "value", "binary")
# What an answerer could mark without opening a linked article.
OWN = (MAIN, "question")
# One slip is forgiven; a second of the same kind is a habit.
MOST_SLIPS = 1


def inspect(
    kind: str,
    data: Mapping[str, Any],
    items: Sequence[Mapping[str, Any]],
    open_article: Opener,
) -> tuple[bool, str]:
    """Return whether to grant, and the note: the rule is visible in what was handed in.

    data: cleaned, as it was stored. Questions that are all one question, or that the page's hints
    advise against, are declined; so are marks that cut through words, answers that no linked
    article proves, and giving up where the linked articles tell the answer.
    """
    by_id = {item["id"]: item for item in items}
    found = list(
        _of_questions(data, by_id)
        if kind == "question"
        else _of_answers(data["answers"], by_id, open_article)
    )
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
    echoes = [one for one in questions if is_advised_against(one, items[one["item"]])]
    if len(echoes) > MOST_SLIPS:
        yield "Several questions ask only what the paragraph says, or nothing of it."


def _of_answers(
    given: Sequence[Mapping[str, Any]], items: Mapping[str, Any], open_article: Opener
) -> Iterator[str]:
    given_up = [items[one["item"]] for one in given if one["type"] == "none"]
    if sum(_has_answer(item, open_article) for item in given_up) > MOST_SLIPS:
        yield "Questions were given up that have an answer: open the linked articles and look."
    marks = [
        (span, items[one["item"]]["passage"]["text"])
        for one in given
        for span in _own_marks(one, items[one["item"]])
        if span["document"] == MAIN
    ]
    if _n_cut(marks) > MOST_SLIPS:
        yield "The marks cut through words: mark the answer and its evidence as whole words."
    unproven = [
        one
        for one in given
        if one["type"] in PROVEN
        and opened(items[one["item"]], open_article)
        and all(span["document"] in OWN for span in (*one["spans"], *one["context"]))
    ]
    if len(unproven) > MOST_SLIPS:
        yield "No linked article is marked: mark where the answer stands."


def _has_answer(item: Mapping[str, Any], open_article: Opener) -> bool:
    """Return whether a careful reader finds an answer where the question's writer pointed."""
    found, _ = find(item["question"], opened(item, open_article))
    return found["type"] != "none"


def _own_marks(one: Mapping[str, Any], item: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the spans that the answerer marked, without those taken over from the question."""
    given = {(span["start"], span["end"]) for span in item["writer_context"]}
    for span in (*one["spans"], *one["context"]):
        if span["document"] != MAIN or (span["start"], span["end"]) not in given:
            yield span


def _n_cut(marks: Iterable[tuple[Mapping[str, Any], str]]) -> int:
    """Return how many spans begin or end inside a word."""
    return sum(
        is_inside_word(text, span["start"]) or is_inside_word(text, span["end"])
        for span, text in marks
    )
