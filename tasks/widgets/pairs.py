"""What is written about, or answered from, each pair of paragraphs of a page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from collector.protocols.stage_tables import PairChecks
from tasks.widgets import brief, facts, text
from tasks.widgets.problems import Problem

Item = Mapping[str, Any]
Cleaned = tuple[dict[str, Any], list[Problem]]


def clean_written(raw: object, items: Sequence[Item], checks: PairChecks) -> Cleaned:
    """Return {"pairs": […]}, a question with its answer and facts for each item, or a skip.

    Each is {"item", "text", "type", "spans", "facts", "skipped", "reason"}; of a skipped pair
    only the reason is kept. A problem's index counts the page's items.
    """
    return _clean_all(raw, "pairs", items, lambda entry, item: _written(entry, item, checks))


def clean_answered(raw: object, items: Sequence[Item], checks: PairChecks) -> Cleaned:
    """Return {"answers": […]}, each {"item", "type", "spans", "facts"}, and what is wrong."""
    return _clean_all(raw, "answers", items, lambda entry, item: _answered(entry, item, checks))


def _clean_all(
    raw: object, name: str, items: Sequence[Item], clean: Callable[[dict[str, Any], Item], Cleaned]
) -> Cleaned:
    sent = raw.get(name) if isinstance(raw, dict) else None
    problems = []
    if not isinstance(sent, list):
        problems.append(Problem("The work could not be read: reload the page; it is kept."))
        sent = []
    by_item = {
        entry["item"]: entry
        for entry in sent
        if isinstance(entry, dict) and isinstance(entry.get("item"), str)
    }
    cleaned = []
    for index, item in enumerate(items):
        entry, found = clean(by_item.pop(item["id"], {}), item)
        cleaned.append({"item": item["id"], **entry})
        problems += [replace(problem, index=index) for problem in found]
    if by_item:
        problems.append(Problem("A pair belongs to another HIT: reload the page."))
    return {name: cleaned}, problems


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
