"""One of a few choices."""

from collections.abc import Collection

from tasks.work.widgets.problems import Problem


def clean(
    raw: object,
    choices: Collection[str],
    *,
    field: str,
    request: str,
    required: bool = False,
) -> tuple[str | None, list[Problem]]:
    """Return the choice, or None, and what is wrong.

    request: the sentence that asks for a choice, such as "Choose yes or no."
    """
    if isinstance(raw, str) and raw in choices:
        return raw, []
    if (raw is None or raw == "") and not required:
        return None, []
    return None, [Problem(request, field=field)]
