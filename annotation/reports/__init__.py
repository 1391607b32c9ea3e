"""What a collection has brought so far, as tables: the paper's own, what was kept, and the pay."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from annotation.tables.table import Table
    from collector.models import Collection


def tables_of(collection: "Collection") -> "list[Table]":
    """Return the collection's report; raises ProtocolError.

    Reads every question once, in memory that does not grow.
    """
    # Imported here, so that protocols can build tables without a database.
    from annotation.reports import collection as reading

    return reading.tables_of(collection)


def tables_of_predictions(collection: "Collection", predictions: Path) -> "list[Table]":
    """Return how a system's predictions do on the collection.

    Raises ProtocolError where the protocol has no such tables, ScoreError for a wrong file.
    """
    from annotation.reports import collection as reading

    return reading.tables_of_predictions(collection, predictions)
