"""An answer of one of five types, with its evidence (IIRC 2.3, and wherever it fits)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tasks.work.widgets import choice, number, spans, text
from tasks.work.widgets.problems import Problem

TYPES = ("span", "value", "binary", "none", "bad")
PROVEN = ("span", "value", "binary")


def clean_all(
    raw: object,
    items: Sequence[Mapping[str, Any]],
    article_text: Callable[[str, str], str | None],
    *,
    most_reason_characters: int = 1000,
) -> tuple[dict[str, list[dict]], list[Problem]]:
    """Return {"answers": […]}, one for each item in the page's order, and what cannot be read.

    raw: the same shape as the page sends it. items: what the page showed, each with "id",
    "question" and "passage". article_text: the text of a linked article by (item id, title), None
    for one that may not be read. An item that was not answered gets an answer of type None; what
    an answer must have is for the protocol to say. A problem's index counts the page's items.
    """
    by_item, problems = answers_by_item(raw)
    answers = []
    for index, item in enumerate(items):
        answer, found = clean(
            by_item.pop(item["id"], None),
            _texts(item, article_text),
            most_reason_characters=most_reason_characters,
        )
        answers.append({"item": item["id"], **answer})
        problems += [replace(problem, index=index) for problem in found]
    if by_item:
        problems.append(Problem("An answer is to a question of another HIT: reload the page."))
    return {"answers": answers}, problems


def answers_by_item(raw: object) -> tuple[dict[str, dict], list[Problem]]:
    """Return what a page sent as {"answers": […]} by item id, and a problem where it is no list."""
    sent = raw.get("answers") if isinstance(raw, dict) else None
    if not isinstance(sent, list):
        return {}, [Problem("The answers could not be read: reload the page; they are kept.")]
    return {
        entry["item"]: entry
        for entry in sent
        if isinstance(entry, dict) and isinstance(entry.get("item"), str)
    }, []


def _texts(
    item: Mapping[str, Any], article_text: Callable[[str, str], str | None]
) -> Callable[[str], str | None]:
    own = {"question": item["question"], spans.MAIN: item["passage"]["text"]}
    return lambda name: own[name] if name in own else article_text(item["id"], name)


def clean(
    raw: object,
    text_of: Callable[[str], str | None],
    *,
    most_reason_characters: int = 1000,
) -> tuple[dict[str, Any], list[Problem]]:
    """Return {"type", "spans", "value", "unit", "yes_no", "reason", "context"} and what is wrong.

    Only what the type can have is kept: evidence ("context") for an answer that was found, a
    reason for a bad question. text_of: as in `spans.clean`.
    """
    entry = raw if isinstance(raw, dict) else {}
    kind, problems = choice.clean(
        entry.get("type"), TYPES, field="type", request="Choose a type of answer."
    )
    answer: dict[str, Any] = {
        "type": kind,
        "spans": [],
        "value": "",
        "unit": "",
        "yes_no": None,
        "reason": "",
        "context": [],
    }
    found: list[Problem] = []
    if kind == "span":
        answer["spans"], found = spans.clean(entry.get("spans"), text_of)
    elif kind == "value":
        quantity, found = number.clean(entry.get("value"), entry.get("unit"))
        answer |= quantity
    elif kind == "binary":
        answer["yes_no"], found = choice.clean(
            entry.get("yes_no"), ("yes", "no"), field="yes_no", request="Choose yes or no."
        )
    elif kind == "bad":
        answer["reason"], found = text.clean(
            entry.get("reason"),
            field="reason",
            name="reason",
            most_characters=most_reason_characters,
        )
    problems += found
    if kind in PROVEN:
        answer["context"], found = spans.clean(entry.get("context"), text_of, field="context")
        problems += found
    return answer, problems
