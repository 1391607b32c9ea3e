"""A field for free words."""

import re

from tasks.work.widgets.problems import Problem

# Databases refuse NUL, and lone surrogates cannot be encoded: neither is ever typed.
UNTYPABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def clean(
    raw: object,
    *,
    field: str = "text",
    name: str = "question",
    most_characters: int = 1000,
    required: bool = False,
) -> tuple[str, list[Problem]]:
    """Return the words without outer white space, and what is wrong with them.

    Markup is text like any other. name: what the sentences call it, as in "Write the question."
    Words that are too long come back whole beside their problem: nothing is cut.
    """
    if raw is not None and not isinstance(raw, str):
        return "", [Problem(f"The {name} must be text: write it again.", field=field)]
    words = UNTYPABLE.sub("", raw or "").strip()
    if required and not words:
        return "", [Problem(f"Write the {name}.", field=field)]
    if len(words) > most_characters:
        return words, [
            Problem(
                f"The {name} has {len(words):,} characters:"
                f" shorten it to {most_characters:,} or fewer.",
                field=field,
            )
        ]
    return words, []
