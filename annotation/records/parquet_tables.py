"""Tables of a release: what their columns hold, and how their rows become a Parquet file."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

TEXT, INTEGER, BOOLEAN = "text", "integer", "boolean"
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Column:
    """What a column holds, in words and by its kind.

    `is_list`: a list of such values in each row. `parts`: the columns of a record, in place of a
    kind; a part may be a list of plain values, never of records.
    """

    about: str
    kind: str = TEXT
    is_list: bool = False
    parts: "Mapping[str, Column]" = field(default_factory=dict)


SPAN_PARTS = {
    "document": Column("which of the texts shown"),
    "start": Column("offset of its first character in that text", INTEGER),
    "end": Column("offset after its last character", INTEGER),
    "text": Column("the words themselves"),
}


def spans(about: str) -> Column:
    """Return a column of marked words with their places."""
    return Column(about, is_list=True, parts=SPAN_PARTS)


def spans_of(marked: Iterable[dict[str, Any]] | None) -> list[dict[str, Any]]:
    """Return marked words as the columns of `spans` store them."""
    rows = [{name: span.get(name) for name in SPAN_PARTS} for span in marked or ()]
    for row in rows:
        # A passage of a seed is named by its number.
        if row["document"] is not None:
            row["document"] = str(row["document"])
    return rows


def write_table(
    path: Path, columns: Mapping[str, Column], rows: Iterable[Row], rows_per_group: int
) -> None:
    """Write the rows as they come, so many in memory at once; equal rows give equal bytes."""
    import pyarrow as arrow
    from pyarrow import parquet

    schema = arrow.schema([(name, _type(arrow, column)) for name, column in columns.items()])
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        remaining = iter(rows)
        while group := list(islice(remaining, rows_per_group)):
            writer.write_table(arrow.Table.from_pylist(group, schema=schema))


def _type(arrow: Any, column: Column) -> Any:
    if column.parts:
        each = arrow.struct([(name, _type(arrow, part)) for name, part in column.parts.items()])
    else:
        kinds = {TEXT: arrow.string(), INTEGER: arrow.int64(), BOOLEAN: arrow.bool_()}
        each = kinds[column.kind]
    return arrow.list_(each) if column.is_list else each
