"""What is asked about one passage, or answered from it, by words that are marked in it."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from collector.protocols.stage_tables import SpanChecks
from tasks.work.widgets import brief, text
from tasks.work.widgets.problems import Cleaned, clean_all
from tasks.work.widgets.problems import PageItem as Item
from tasks.work.widgets.spans import MAIN
from tasks.work.widgets.words import UNSPACED

_PIECE = re.compile(f"[{UNSPACED}]|[^{UNSPACED}]+")


def passage(paragraphs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the first of a seed's paragraphs, alone, as the document that marks are in."""
    return [
        {**one, "document": MAIN, "tokens": markable(one["text"], one["tokens"])}
        for one in paragraphs[:1]
    ]


def markable(text: str, tokens: Sequence[tuple[int, int, bool]]) -> list[tuple[int, int, bool]]:
    """Return tokens of which none is a whole clause, for marks to begin and end with.

    Where a script writes no blanks every character is one by itself, with the signs that combine
    with it.
    """
    found: list[tuple[int, int, bool]] = []
    for start, end, is_word in tokens:
        pieces = [piece.span() for piece in _PIECE.finditer(text, start, end)]
        if len(pieces) == 1:
            found.append((start, end, is_word))
            continue
        for first, last in pieces:
            if first > start and unicodedata.category(text[first]).startswith("M"):
                before, _, was_word = found.pop()
                found.append((before, last, was_word))
            else:
                found.append((first, last, any(map(str.isalnum, text[first:last]))))
    return found


def clean_written(raw: object, items: Sequence[Item], checks: SpanChecks) -> Cleaned:
    """Return {"questions": […]}, one for each item in order, and what cannot be read.

    Each is {"item", "text", "type", "spans"}; the type is the item's own, whatever was sent. What
    a question must have is for the protocol to say. A problem's index counts the page's items.
    """
    return clean_all(
        raw, "questions", "question", items, lambda entry, item: _written(entry, item, checks)
    )


def clean_answered(raw: object, items: Sequence[Item], checks: SpanChecks) -> Cleaned:
    """Return {"answers": […]}, each {"item", "type", "spans", "reason"}, and what is wrong."""
    return clean_all(
        raw, "answers", "question", items, lambda entry, item: _answered(entry, item, checks)
    )


def _written(entry: dict[str, Any], item: Item, checks: SpanChecks) -> Cleaned:
    words, problems = text.clean(entry.get("text"), most_characters=checks.max_question_characters)
    given = {"type": "span", "spans": entry.get("spans")}
    answer, found = brief.clean(
        given,
        item["paragraphs"],
        form=item["form"],
        most_words=checks.max_answer_words,
        whole_words=True,
    )
    return {"text": words, "type": item["type"], "spans": answer["spans"]}, problems + found


def _answered(entry: dict[str, Any], item: Item, checks: SpanChecks) -> Cleaned:
    answer, problems = brief.clean(
        entry,
        item["paragraphs"],
        form=item["form"],
        most_words=checks.max_answer_words,
        whole_words=True,
    )
    reason = ""
    if answer["type"] == "bad":
        reason, found = text.clean(
            entry.get("reason"),
            field="reason",
            name="reason",
            most_characters=checks.max_reason_characters,
        )
        problems += found
    return {**answer, "reason": reason}, problems
