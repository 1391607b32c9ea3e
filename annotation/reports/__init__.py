"""What a collection has brought so far, as tables: the paper's own, what was kept, and the pay."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from annotation.reports.table import Table
    from collector.models import Collection


def tables_of(collection: "Collection") -> "list[Table]":
    """Return the collection's report; raises ProtocolError.

    Reads every question once, in memory that does not grow.
    """
    # Imported here, so that protocols can build tables without a database.
    from annotation.reports import collection as reading

    return reading.tables_of(collection)
