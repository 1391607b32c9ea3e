"""A form filled in once per item: fields of free words or of a few choices, given as data."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tasks.work.widgets import choice, text
from tasks.work.widgets.problems import Problem


def clean(
    raw: object, items: Sequence[Mapping[str, Any]], fields: Sequence[Any]
) -> tuple[dict[str, list[dict]], list[Problem]]:
    """Return {"entries": [{"item", "fields"}]}, one for each item in order, and what is wrong.

    raw: the same shape as the page sends it. fields: each with `name`, `choices` (with `value`;
    none for free words), `required`, `instead_of` and `max_characters`. Every entry has every
    field: words, a choice or None. A problem's index counts the page's items.
    """
    sent = raw.get("entries") if isinstance(raw, dict) else None
    problems = []
    if not isinstance(sent, list):
        problems.append(Problem("The work could not be read: reload the page; it is kept."))
        sent = []
    by_item = {
        entry["item"]: entry.get("fields")
        for entry in sent
        if isinstance(entry, dict) and isinstance(entry.get("item"), str)
    }
    entries = []
    for index, item in enumerate(items):
        values, found = clean_one(by_item.pop(item["id"], None), fields)
        entries.append({"item": item["id"], "fields": values})
        problems += [replace(problem, index=index) for problem in found]
    if by_item:
        problems.append(Problem("A part of this is of another HIT: reload the page."))
    return {"entries": entries}, problems


def clean_one(raw: object, fields: Sequence[Any]) -> tuple[dict[str, str | None], list[Problem]]:
    """Return one form's values by field, and what is wrong with them.

    What another field stands for, which is filled in, may be left out.
    """
    given = raw if isinstance(raw, dict) else {}
    values: dict[str, str | None] = {}
    problems = []
    stood_for = {field.instead_of for field in fields if _has_words(given.get(field.name))}
    for field in fields:
        required = field.required and field.name not in stood_for
        value, found = _clean_field(given.get(field.name), field, required=required)
        values[field.name] = value
        problems += found
    return values, problems


def _has_words(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _clean_field(raw: object, field: Any, *, required: bool) -> tuple[str | None, list[Problem]]:
    called = field.name.replace("_", " ")
    if field.choices:
        return choice.clean(
            raw,
            [option.value for option in field.choices],
            field=field.name,
            request=f"Choose the {called}.",
            required=required,
        )
    return text.clean(
        raw,
        field=field.name,
        name=called,
        most_characters=field.max_characters,
        required=required,
    )


def n_begun(data: Mapping[str, Any]) -> int:
    """Return how many of a draft's forms somebody has begun."""
    sent = data.get("entries")
    return sum(map(_is_begun, sent)) if isinstance(sent, list) else 0


def _is_begun(entry: object) -> bool:
    values = entry.get("fields") if isinstance(entry, dict) else None
    return isinstance(values, dict) and any(map(_has_words, values.values()))
