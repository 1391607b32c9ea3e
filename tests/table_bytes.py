"""What every table of the two databases holds, to the last byte and number."""

from collections.abc import Iterable

from django.conf import settings
from django.db import connections


def bytes_of_tables(*, but: Iterable[str] = ()) -> dict[str, bytes]:
    """Return all rows of every table, and the last numbers given out, by alias and name.

    but: how the names of tables begin that are left out.
    """
    found = {}
    for alias in settings.DATABASES:
        line = connections[alias]
        with line.cursor() as cursor:
            for table in line.introspection.table_names(cursor):
                if not table.startswith(tuple(but)):
                    cursor.execute(f'SELECT * FROM "{table}"')
                    rows = sorted(map(repr, cursor.fetchall()))
                    found[f"{alias}.{table}"] = "\n".join(rows).encode()
            found[f"{alias} numbers"] = _numbers(line.vendor, cursor, tuple(but))
    return found


def _numbers(vendor: str, cursor: object, but: tuple[str, ...]) -> bytes:
    names = {
        "sqlite": "SELECT name, seq FROM sqlite_sequence",
        "postgresql": "SELECT sequencename, last_value FROM pg_sequences",
    }
    cursor.execute(names[vendor])  # type: ignore[attr-defined]
    rows = cursor.fetchall()  # type: ignore[attr-defined]
    return "\n".join(sorted(repr(row) for row in rows if not row[0].startswith(but))).encode()
