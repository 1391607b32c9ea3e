"""The golden tables of votes, with what the packages named in them make of each."""

from typing import Any

from annotation.agreement.votes import Votes, votes_of
from annotation.metrics.tests.golden import vectors


def tables() -> list[tuple[Votes, dict[str, Any]]]:
    """Return each table of votes with what is expected; skips where the vectors are not at hand."""
    return [
        (
            votes_of(
                (
                    (item, annotator, label)
                    for item, row in enumerate(table["ratings"])
                    for annotator, label in enumerate(row)
                    if label is not None
                ),
                table["categories"],
            ),
            table["expected"],
        )
        for table in vectors("agreement.json")["tables"]
    ]


def is_number(value: object) -> bool:
    """Return whether a package gave a number: not "nan", no error, nothing missing."""
    return isinstance(value, float | int)
