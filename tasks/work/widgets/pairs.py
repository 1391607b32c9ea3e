"""Cleans questions about pairs of paragraphs, and answers from such pairs."""

from collections.abc import Sequence
from typing import Any

from collector.protocols.stage_tables import PairChecks
from tasks.work.widgets import brief, facts, text
from tasks.work.widgets.problems import Cleaned, clean_all
from tasks.work.widgets.problems import PageItem as Item


def clean_written(raw: object, items: Sequence[Item], checks: PairChecks) -> Cleaned:
    """Return {"pairs": […]}, a question with its answer and facts for each item, or a skip.

    Each is {"item", "text", "type", "spans", "facts", "skipped", "reason"}. Of a skipped pair only
    the reason is kept. A problem's index is that of the item on the page.
    """
    return clean_all(raw, "pairs", "pair", items, lambda entry, item: _written(entry, item, checks))


def clean_answered(raw: object, items: Sequence[Item], checks: PairChecks) -> Cleaned:
    """Return {"answers": […]}, each {"item", "type", "spans", "facts"}, and the problems."""
    return clean_all(
        raw, "answers", "pair", items, lambda entry, item: _answered(entry, item, checks)
    )


def _written(entry: dict[str, Any], item: Item, checks: PairChecks) -> Cleaned:
    if entry.get("skipped") is True:
        reason, problems = text.clean(
            entry.get("reason"),
            field="reason",
            name="reason",
            most_characters=checks.max_reason_characters,
        )
        nothing: dict[str, Any] = {"text": "", "type": None, "spans": [], "facts": []}
        return {**nothing, "skipped": True, "reason": reason}, problems
    words, problems = text.clean(entry.get("text"), most_characters=checks.max_question_characters)
    answered, found = _answered(entry, item, checks)
    return {"text": words, **answered, "skipped": False, "reason": ""}, problems + found


def _answered(entry: dict[str, Any], item: Item, checks: PairChecks) -> Cleaned:
    paragraphs = item["paragraphs"]
    answer, problems = brief.clean(
        entry, paragraphs, form=item["form"], most_words=checks.max_answer_words
    )
    picked, found = facts.clean(entry.get("facts"), paragraphs)
    return {**answer, "facts": picked}, problems + found
