"""One passage of a text as an answer, or none, with the dialog acts beside it (QuAC 2.1)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tasks.work.dialog_rules import AFFIRMATION, CONTINUATION
from tasks.work.widgets import choice, spans
from tasks.work.widgets.answer import answers_by_item
from tasks.work.widgets.problems import Problem

TYPES = ("span", "none")
# The name of the text that is answered from.
SECTION = "section"


def clean_all(
    raw: object,
    passages: Mapping[str, Mapping[str, Any]],
    *,
    most_tokens: int,
    continuation: bool,
) -> tuple[dict[str, list[dict]], list[Problem]]:
    """Return {"answers": […]}, one for each item in the page's order, and what cannot be read.

    raw: the same shape as the page sends it. passages: each with "text" and "tokens" (start, end,
    whether it is a word), by item id in the page's order. An item that was not answered gets an
    answer of type None; what an answer must have is for the protocol to say. A problem's index
    counts the page's items.
    """
    by_item, problems = answers_by_item(raw)
    answers = []
    for index, (item, passage) in enumerate(passages.items()):
        answer, found = clean(
            by_item.pop(item, None), passage, most_tokens=most_tokens, continuation=continuation
        )
        answers.append({"item": item, **answer})
        problems += [replace(problem, index=index) for problem in found]
    if by_item:
        problems.append(Problem("An answer is to a question of another HIT: reload the page."))
    return {"answers": answers}, problems


def clean(
    raw: object, passage: Mapping[str, Any], *, most_tokens: int, continuation: bool
) -> tuple[dict[str, Any], list[Problem]]:
    """Return {"type", "spans", "affirmation", "continuation"} and what is wrong.

    A span begins and ends where a token does. What is said of no answer is *neither*; whether to
    follow up is None where it is not asked.
    """
    entry = raw if isinstance(raw, dict) else {}
    kind, problems = choice.clean(
        entry.get("type"), TYPES, field="spans", request="Mark a passage, or choose no answer."
    )
    marked: list[dict] = []
    if kind == "span":
        marked, found = spans.clean(entry.get("spans"), {SECTION: passage["text"]}.get, most=1)
        problems += found or spans.unfit(marked, passage["tokens"], most_tokens)
    affirmation, found = choice.clean(
        entry.get("affirmation"),
        AFFIRMATION,
        field="affirmation",
        request="Choose yes, no or neither.",
    )
    problems += found
    hint = None
    if continuation:
        hint, found = choice.clean(
            entry.get("continuation"),
            CONTINUATION,
            field="continuation",
            request="Say whether to ask more about this.",
        )
        problems += found
    return {
        "type": kind,
        "spans": marked,
        "affirmation": "neither" if kind == "none" else affirmation,
        "continuation": hint,
    }, problems


def passages_of(items: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return the section of each item by its id; one without its own has that of the one before."""
    found: dict[str, Mapping[str, Any]] = {}
    last: Mapping[str, Any] = {}
    for item in items:
        last = item["passage"] or last
        found[item["id"]] = last
    return found


def categories(type: str, payload: Mapping[str, Any]) -> dict[str, str]:
    """Return what of a reply is one of a few labels, by what it is called."""
    acts = {name: payload.get(name) for name in ("affirmation", "continuation")}
    return {"answer type": type} | {name: act for name, act in acts.items() if act}
