"""Says which column of old results holds what a protocol's form asks for."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.mturk_import.result_files import Result
from common.actions import ActionError
from tasks.work.widgets.text import UNTYPABLE

NUMBER = "{n}"
MOST_ITEMS = 200
SHOWN = ("passage", "title", "text")


@dataclass(frozen=True)
class Item:
    """One passage of a HIT, the text that was labelled (else ""), and the form's raw values."""

    passage: str
    title: str
    text: str
    fields: dict[str, str]


@dataclass(frozen=True)
class Columns:
    """Column by name: `passage`, `title`, `text` of a label stage, and the form's fields.

    A column with {n} stands for one of each item: n counts them. `words` translates a value:
    (field, old) -> new.
    """

    by_name: dict[str, str]
    fields: tuple[str, ...]
    words: dict[tuple[str, str], str]

    def items(self, result: Result) -> list[Item]:
        """Return what the HIT showed and what was answered, item by item; [] without a passage."""
        is_numbered = any(NUMBER in column for column in self.by_name.values())
        numbers = range(MOST_ITEMS) if is_numbered else range(1)
        found = [self._item(result.values, str(number)) for number in numbers]
        return [item for item in found if item.passage]

    def _item(self, values: Mapping[str, str], number: str) -> Item:
        def value(name: str) -> str:
            column = self.by_name.get(name, "").replace(NUMBER, number)
            # As a page cleans what is typed, so that a text is found again by its words.
            return UNTYPABLE.sub("", values.get(column, "")).strip()

        raw = {name: value(name) for name in self.fields}
        words = {name: self.words.get((name, given), given) for name, given in raw.items()}
        return Item(value("passage"), value("title"), value("text"), words)


def columns_for(
    table: Any, pairs: Iterable[str], words: Iterable[str], *, is_label: bool
) -> Columns:
    """Return the columns that NAME=COLUMN `pairs` give, the others by their own names.

    `words` are FIELD:OLD=NEW. Raises ActionError for a name that the stage has no use for.
    """
    fields = tuple(each.name for each in table.fields)
    shown = SHOWN if is_label else SHOWN[:2]
    by_name = {name: f"Input.{name}" for name in shown}
    by_name |= {name: f"Answer.{name}" for name in fields}
    for pair in pairs:
        name, _, column = pair.partition("=")
        if name not in by_name or not column:
            known = ", ".join(by_name)
            raise ActionError(f"--map {pair}: write NAME=COLUMN, NAME being one of {known}.")
        by_name[name] = column
    translated = {}
    for word in words:
        (name, colon, rest) = word.partition(":")
        old, equals, new = rest.partition("=")
        if name not in fields or not colon or not equals:
            raise ActionError(f"--value {word}: write FIELD:OLD=NEW, like label:yes=faithful.")
        translated[name, old] = new
    return Columns(by_name, fields, translated)


def check_columns(columns: Columns, results: Sequence[Result], required: Iterable[str]) -> None:
    """Raise ActionError for a column that no result has: it was named wrong."""
    there = {column for result in results for column in result.values}
    for name in required:
        column = columns.by_name[name]
        tried = [column.replace(NUMBER, str(number)) for number in range(MOST_ITEMS)]
        if results and there.isdisjoint(tried):
            known = ", ".join(sorted(there)) or "none"
            raise ActionError(
                f"No result has a column {column} for {name}: say which with --map {name}=COLUMN. "
                f"There are: {known}."
            )
