"""A stage's title and description as workers read them: with the numbers of its parameters.

A number is named in braces, `{items_per_hit}`. With what it counts, as in
`{questions:question|questions}`, it is "one question" or "five questions".
"""

import re
from collections.abc import Mapping

from collector.protocols.parameters import COUNTED, StageTable
from tasks.work.kinds.registry import kind_of

WITH_NOUN = re.compile(r"\{(\w+):([^|{}]*)\|([^|{}]*)\}")
# A larger number is read more easily in digits.
WORDS = "no one two three four five six seven eight nine ten eleven twelve".split()


def title_of(table: StageTable) -> str:
    """Return what workers see in the list of HITs."""
    return filled(table.title, numbers_of(table))


def description_of(table: StageTable) -> str:
    """Return what workers read below the title before they accept."""
    return filled(table.description, numbers_of(table))


def numbers_of(table: StageTable) -> dict[str, int]:
    """Return the numbers of a stage's table by name, and what one HIT of it holds."""
    counted = (table.items_per_hit, kind_of(table).questions_per_hit(table) or table.items_per_hit)
    return table.numbers() | dict(zip(COUNTED, counted, strict=True))


def filled(text: str, values: Mapping[str, object]) -> str:
    """Return the text with every value that it names in braces; other braces stay."""

    def counted(found: re.Match[str]) -> str:
        number, one, many = values.get(found[1]), found[2], found[3]
        if not isinstance(number, int) or isinstance(number, bool):
            return found[0]
        word = WORDS[number] if number < len(WORDS) else f"{number:,}"
        return f"{word} {one if number == 1 else many}"

    text = WITH_NOUN.sub(counted, text)
    for name, value in values.items():
        text = text.replace("{" + name + "}", str(value))
    return text
