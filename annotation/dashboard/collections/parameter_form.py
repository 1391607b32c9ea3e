"""The form of a collection's parameters: what may change now, grouped by its table."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from annotation.dashboard.collection_context import Desk
from annotation.dashboard.collections.parameter_values import (
    LABELS,
    LONG,
    help_of,
    is_money,
    own_label,
    read,
    typed,
)
from collector.models import CollectionState
from collector.protocols.revisions import is_changeable, is_structure


@dataclass(frozen=True)
class Field:
    """One parameter: `value` as it stands in the form, `wrong` what to mend."""

    key: str
    label: str
    help: str
    value: str
    wrong: str
    is_long: bool
    is_number: bool


@dataclass(frozen=True)
class Group:
    """The parameters of one table."""

    name: str
    fields: list[Field]

    @property
    def numbers(self) -> list[Field]:
        """Return amounts and counts: what is changed most."""
        return [field for field in self.fields if field.is_number]

    @property
    def words(self) -> list[Field]:
        """Return names and descriptions."""
        return [field for field in self.fields if not field.is_number]

    @property
    def is_wrong(self) -> bool:
        """Return whether something in it must be mended: then it is shown open."""
        return any(field.wrong for field in self.fields)


@dataclass(frozen=True)
class Sheet:
    """`always` may change at any time, `draft` before the first publication alone.

    `wanted` holds what was typed and differs; `problems` what could not be read, by key.
    """

    always: list[Group]
    draft: list[Group]
    wanted: dict[str, Any]
    problems: dict[str, str]


def sheet_of(desk: Desk, given: Mapping[str, str]) -> Sheet:
    """Return the form with what was typed into it; fields that were not sent are as stored."""
    stages = desk.parameters.stages()
    stored = dict(_leaves(desk.parameters.model_dump(mode="json")))
    is_draft = desk.collection.state == CollectionState.DRAFT
    always = sorted(
        (key for key in stored if is_changeable(desk.parameters, key)),
        # The stages come first, and in each what is changed most.
        key=lambda key: (key.partition(".")[0] not in stages, _rank(key)),
    )
    others = [key for key in stored if key not in always and not is_structure(key)]
    wanted: dict[str, Any] = {}
    problems: dict[str, str] = {}
    for key in [*always, *(others if is_draft else ())]:
        try:
            value = read(
                key, given.get(key, _typed(desk, key, stored)), stored[key], desk.parameters
            )
        except ValueError as error:
            problems[key] = str(error)
        else:
            if value != stored[key]:
                wanted[key] = value

    def field(key: str) -> Field:
        name = key.rpartition(".")[2]
        return Field(
            key=key,
            label=own_label(name) if key.count(".") < 2 else _nested(key),
            help=help_of(desk.parameters, key),
            value=given.get(key, _typed(desk, key, stored)),
            wrong=problems.get(key, ""),
            is_long=name in LONG,
            is_number=isinstance(stored[key], int | float) or is_money(key),
        )

    return Sheet(_grouped(always, field), _grouped(others, field), wanted, problems)


def _rank(key: str) -> int:
    """Return the place of a parameter among those that people know by a label of our own."""
    name = key.rpartition(".")[2]
    return list(LABELS).index(name) if name in LABELS else len(LABELS)


def _typed(desk: Desk, key: str, stored: Mapping[str, Any]) -> str:
    return typed(key, stored[key], desk.parameters)


def _nested(key: str) -> str:
    """Return the label of a value in a table inside a table: "Redundancy, train"."""
    _, *path = key.split(".")
    return ", ".join(path).replace("_", " ").capitalize()


def _grouped(keys: list[str], field: Any) -> list[Group]:
    groups: dict[str, list[Field]] = {}
    for key in keys:
        groups.setdefault(key.partition(".")[0], []).append(field(key))
    return [Group(name.replace("_", " ").capitalize(), fields) for name, fields in groups.items()]


def _leaves(values: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every number, name and yes or no by its dotted key; lists are the command's alone."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{before}{name}.")
        elif isinstance(value, str | int | float):
            yield before + name, value
