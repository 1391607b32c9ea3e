"""Articles opened beside a question: which of them may be."""

from collections.abc import Collection

from tasks.problems import Problem


def clean(raw: object, titles: Collection[str]) -> tuple[str | None, list[Problem]]:
    """Return the title to open, or None and the problem; titles: what this passage links to."""
    if isinstance(raw, str) and raw in titles:
        return raw, []
    return None, [
        Problem("This article is not linked from the passage: open another.", field="title")
    ]
