"""The mark on what a replay has added to an answer that a person gave."""

from collections.abc import Mapping, Sequence
from typing import Any

# The key of a stored payload with the names of its fields that nobody said.
SYNTHETIC_FIELDS = "synthetic_fields"


def made_up(payload: Mapping[str, Any]) -> list[str]:
    """Return the names of the fields that a simulation filled in."""
    return list(payload.get(SYNTHETIC_FIELDS) or ())


def genuine(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the payload without those fields, and without the mark."""
    left_out = {SYNTHETIC_FIELDS, *made_up(payload)}
    return {name: value for name, value in payload.items() if name not in left_out}


def marked(payload: Mapping[str, Any], fields: Sequence[str]) -> dict[str, Any]:
    """Return the payload with these fields marked."""
    return {**payload, SYNTHETIC_FIELDS: list(fields)}
