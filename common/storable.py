"""Sees to it that a row holds what its columns can, before a database says so in its own words."""

from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import Field, Model
from django.http import QueryDict

Row = TypeVar("Row", bound=Model)


class NotStorable(ValueError):
    """A value does not fit its column; the message is one line that names both."""


def storable(row: Row) -> Row:
    """Return the row, whose every field fits its column on every database; raises NotStorable."""
    fields = row._meta.concrete_fields
    try:
        # An empty list or table is a value to keep, and so is none, though no form would take it.
        row.clean_fields([one.name for one in fields if _is_empty(row, one)])
    except ValidationError as error:
        name, sentences = next(iter(error.message_dict.items()))
        raise NotStorable(_sentence(row, name, sentences[0])) from None
    for field in fields:
        value = getattr(row, field.attname)
        if isinstance(value, str) and not is_text(value):
            raise NotStorable(_sentence(row, field.name, "it holds what is no text"))
    return row


def _is_empty(row: Model, field: "Field[Any, Any]") -> bool:
    value = getattr(row, field.attname)
    return value in ([], {}) or (value is None and field.null)


def is_text(value: str) -> bool:
    """Return whether every database can keep it: no NUL character, no half of a surrogate pair."""
    return "\0" not in value and not any("\ud800" <= letter <= "\udfff" for letter in value)


def _sentence(row: Model, name: str, why: str) -> str:
    label = row._meta.get_field(name).verbose_name  # type: ignore[union-attr]
    value = str(getattr(row, name))
    shown = value if len(value) <= 60 else f"{value[:60]}…"
    return f"The {label} {shown!r} cannot be kept: {why[0].lower()}{why[1:].rstrip('.')}."


def without_nul(given: QueryDict) -> QueryDict:
    """Return what was sent without NULs."""
    if not any("\x00" in value for _, values in given.lists() for value in values):
        return given
    cleaned = QueryDict(mutable=True)
    for name, values in given.lists():
        cleaned.setlist(name, [value.replace("\x00", "") for value in values])
    return cleaned
