"""What is wrong with what a page sent, and the cleaning of one entry for each of its items."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Problem:
    """`index` is the question's place on the page, None for the whole; a hint never blocks.

    from_reader: a reader answered the question from too little text; what comes of it is counted.
    """

    message: str
    index: int | None = None
    field: str | None = None
    hint: bool = False
    from_reader: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return what the page needs to show it."""
        shown = asdict(self)
        del shown["hint"], shown["from_reader"]
        return shown


PageItem = Mapping[str, Any]
Cleaned = tuple[dict[str, Any], list[Problem]]


def clean_all(
    raw: object,
    name: str,
    noun: str,
    items: Sequence[PageItem],
    clean: Callable[[dict[str, Any], PageItem], Cleaned],
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
