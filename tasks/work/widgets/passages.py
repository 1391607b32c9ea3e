"""Passages to read, one at a time: which of them something is about."""

from collections.abc import Collection

from tasks.work.widgets.problems import Problem


def clean(
    raw: object, items: Collection[str], *, field: str = "item"
) -> tuple[str | None, list[Problem]]:
    """Return the id of the passage, or None and the problem; items: the ids of this page."""
    if isinstance(raw, str) and raw in items:
        return raw, []
    return None, [
        Problem("This paragraph is not part of this HIT: write about another.", field=field)
    ]
