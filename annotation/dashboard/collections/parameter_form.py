"""A collection's parameters on pages: labels, values as people type them, and the form."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from annotation.dashboard.collection_context import CollectionContext
from collector.models import CollectionState
from collector.protocols.creation import is_changeable, is_of_stage, is_structure
from collector.protocols.parameters import Parameters
from common.money import amount_of, cents_of
from tasks.pages.wording import price

LABELS = {
    "reward_cents": "Pay of a HIT",
    "expected_minutes": "Minutes it takes",
    "places_at_once": "HITs open at a time",
    "lifetime_days": "Days a HIT stays up",
    "approve_after_hours": "Hours before work is paid",
    "floor_cents_per_hour": "Floor of the hourly rate",
    "repeats_percent": "Per cent held for work done again",
}
# A table at the beginning of what is wrong with it, and a name that it has in its own sentence.
TABLE = re.compile(r"(?:(?<=; )|^)[a-z_]+(?:\.[a-z_]+)*(?=:)")
NAME = re.compile(r"\b[a-z]+(?:[._][a-z]+)+\b")
LONG = frozenset({"description"})
YES, NO = "yes", "no"


@dataclass(frozen=True)
class ParameterSheet:
    """`always` may change at any time, `draft` before the first publication alone.

    `wanted` holds what was typed and differs; `problems` what could not be read, by key. A group
    has the fields of one table: `numbers` are amounts and counts, what is changed most, `words`
    names and descriptions; what `is_wrong` is shown open. A field has its `value` as it stands in
    the form, and in `wrong` what to mend.
    """

    always: list[dict[str, Any]]
    draft: list[dict[str, Any]]
    wanted: dict[str, Any]
    problems: dict[str, str]


def sheet_of(context: CollectionContext, given: Mapping[str, str]) -> ParameterSheet:
    """Return the form with what was typed into it; fields that were not sent are as stored."""
    stages = context.parameters.stages()
    every = dict(_leaves(context.parameters.model_dump(mode="json")))
    # Whom the work is for is chosen on a page of its own.
    stored = {key: value for key, value in every.items() if not key.startswith("people.")}
    is_draft = context.collection.state == CollectionState.DRAFT
    # The stages come first, and in each what is changed most: it has a label of our own.
    ranks = {name: rank for rank, name in enumerate(LABELS)}
    always = sorted(
        (key for key in stored if is_changeable(context.parameters, key)),
        key=lambda key: (
            key.partition(".")[0] not in stages,
            ranks.get(key.rpartition(".")[2], len(ranks)),
        ),
    )
    others = [
        key
        for key in stored
        if key not in always and not is_structure(key) and not is_of_stage(context.parameters, key)
    ]
    wanted: dict[str, Any] = {}
    problems: dict[str, str] = {}
    for key in [*always, *(others if is_draft else ())]:
        try:
            value = parsed_value(
                key, given.get(key, _typed(context, key, stored)), stored[key], context.parameters
            )
        except ValueError as error:
            problems[key] = str(error)
        else:
            if value != stored[key]:
                wanted[key] = value

    def field(key: str) -> dict[str, Any]:
        _, *path = key.split(".")
        name, value = key.rpartition(".")[2], stored[key]
        is_list = isinstance(value, list)
        # A value in a table inside a table is "Redundancy, train".
        nested = ", ".join(path).replace("_", " ").capitalize()
        return {
            "key": key,
            "label": own_label(name) if key.count(".") < 2 else nested,
            "help": help_of(context.parameters, key) + (" One a line." if is_list else ""),
            "value": given.get(key, _typed(context, key, stored)),
            "wrong": problems.get(key, ""),
            "is_long": name in LONG or is_list,
            "is_number": not is_list and (isinstance(value, int | float) or is_money(key)),
        }

    return ParameterSheet(_grouped(always, field), _grouped(others, field), wanted, problems)


def _typed(context: CollectionContext, key: str, stored: Mapping[str, Any]) -> str:
    return editable_value(key, stored[key], context.parameters)


def _grouped(keys: list[str], field: Any) -> list[dict[str, Any]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for key in keys:
        groups.setdefault(key.partition(".")[0], []).append(field(key))
    return [
        {
            "name": name.replace("_", " ").capitalize(),
            "fields": fields,
            "numbers": [one for one in fields if one["is_number"]],
            "words": [one for one in fields if not one["is_number"]],
            "is_wrong": any(one["wrong"] for one in fields),
        }
        for name, fields in groups.items()
    ]


def _leaves(values: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every number, name, yes or no and list of words or amounts by its dotted key."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{before}{name}.")
        elif not isinstance(value, list) or all(isinstance(each, str | int) for each in value):
            yield before + name, value


def label_of(key: str) -> str:
    """Return the name of a parameter with its table: "Question: pay of a HIT"."""
    *path, last = key.split(".")
    label = own_label(last)
    where = " ".join(path).replace("_", " ").capitalize()
    return f"{where}: {_lowered(label)}" if where else label


def labelled(sentence: str, parameters: Parameters) -> str:
    """Return what is wrong with parameters, each and each table called as pages call it."""
    keys = sorted(dict(_leaves(parameters.model_dump(mode="json"))), key=len, reverse=True)
    for key in keys:
        sentence = re.sub(rf"(?<![\w.]){re.escape(key)}(\.\d+)?(?![\w.])", label_of(key), sentence)
    sentence = TABLE.sub(lambda found: label_of(found[0]), sentence)
    return NAME.sub(lambda found: _lowered(label_of(found[0])), sentence)


def _lowered(label: str) -> str:
    """Return a label as it stands inside a sentence."""
    return label[:1].lower() + label[1:] if label[1:2].islower() else label


def own_label(name: str) -> str:
    """Return the name of a parameter inside its table."""
    words = name.removesuffix("_cents").replace("_", " ").capitalize()
    return LABELS.get(name, words.replace(" hit", " HIT"))


def help_of(parameters: Parameters, key: str) -> str:
    """Return the sentence that says what a parameter is, from where its table is defined."""
    table: Any = parameters
    *path, last = key.split(".")
    for name in path:
        table = getattr(table, name)
    return type(table).model_fields[last].description or ""


def is_money(key: str) -> bool:
    """Return whether the parameter is an amount in whole cents."""
    return "cents" in key.rpartition(".")[2].split("_")


def readable_value(key: str, value: Any, parameters: Parameters) -> str:
    """Return a value for people to read."""
    if isinstance(value, list):
        return ", ".join(readable_value(key, each, parameters) for each in value) or "none"
    if isinstance(value, dict):
        # A field of a form: its labels are read where they are written.
        labels = f" ({len(value['choices'])} labels)" if value.get("choices") else ""
        return f"{value.get('name', '')}{labels}"
    if is_money(key) and isinstance(value, int):
        return price(value, parameters)
    return editable_value(key, value, parameters)


def editable_value(key: str, value: Any, parameters: Parameters) -> str:
    """Return a value as a person types it into a form; of a list one value a line."""
    if isinstance(value, list):
        return "\n".join(editable_value(key, each, parameters) for each in value)
    if isinstance(value, bool):
        return YES if value else NO
    if is_money(key) and isinstance(value, int):
        return amount_of(value, parameters.pay.minor_units)
    return f"{value:g}" if isinstance(value, float) else str(value)


def parsed_value(key: str, text: str, old: Any, parameters: Parameters) -> Any:
    """Return what a person typed as a value of the kind of `old`; raises ValueError, a sentence."""
    if isinstance(old, list):
        kind = old[0] if old else ""
        return [
            parsed_value(key, line, kind, parameters) for line in text.splitlines() if line.strip()
        ]
    text = " ".join(text.replace("\x00", "").split())
    if isinstance(old, bool):
        if text not in (YES, NO):
            raise ValueError(f"Write {YES} or {NO}.")
        return text == YES
    if is_money(key):
        cents = cents_of(text, parameters.pay.minor_units)
        if cents is None:
            raise ValueError("Write an amount, such as 4 or 4.50.")
        return cents
    if isinstance(old, int):
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            raise ValueError("Write a whole number, such as 20.")
        return int(text)
    if isinstance(old, float):
        try:
            return float(text)
        except ValueError:
            raise ValueError("Write a number, such as 1.5.") from None
    return text
