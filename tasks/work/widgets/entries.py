"""One entry for each item of a page, whatever stands in it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tasks.work.widgets.problems import Problem

Item = Mapping[str, Any]
Cleaned = tuple[dict[str, Any], list[Problem]]


def clean_all(
    raw: object,
    name: str,
    noun: str,
    items: Sequence[Item],
    clean: Callable[[dict[str, Any], Item], Cleaned],
) -> Cleaned:
    """Return {name: […]}, what `clean` makes of each item's entry, in order, and what is wrong.

    raw: the same shape as the page sends it; an item without an entry is cleaned as {}. noun: what
    one is called. A problem's index counts the page's items.
    """
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
        problems.append(Problem(f"A {noun} belongs to another HIT: reload the page."))
    return {name: cleaned}, problems
