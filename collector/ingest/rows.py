"""Inserts many rows at once, by SQL, on SQLite and PostgreSQL."""

from collections.abc import Sequence
from typing import Any

from django.db import connection
from django.db.models import Model

# SQLite's executemany runs in C; PostgreSQL wants many rows in one statement.
ROWS_PER_STATEMENT = 1000


def reserve_ids(model: type[Model], n: int) -> range | list[int]:
    """Return `n` ids for new rows of `model` that nobody else will get.

    Expects a transaction; on SQLite it must be an immediate one, which lets no one else write.
    """
    if n == 0:
        return range(0)
    table = connection.ops.quote_name(model._meta.db_table)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)",
                [table, n],
            )
            return [row[0] for row in cursor.fetchall()]
        # The sequence outlives deleted rows, so that an id is never given twice.
        cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [model._meta.db_table])
        row = cursor.fetchone()
        first = (row[0] if row else 0) + 1
        return range(first, first + n)


def insert_rows(
    model: type[Model],
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    ignore_conflicts: bool = False,
) -> None:
    """Insert `rows` (one value per column name) into the model's table.

    JSON goes in as text. Expects a transaction. With `ignore_conflicts`, rows that a constraint
    refuses are left out.
    """
    if not rows:
        return
    quote = connection.ops.quote_name
    names = ", ".join(quote(column) for column in columns)
    tail = " ON CONFLICT DO NOTHING" if ignore_conflicts else ""
    start = f"INSERT INTO {quote(model._meta.db_table)} ({names}) VALUES "
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            from psycopg2.extras import execute_values

            statement = f"{start}%s{tail}"
            execute_values(cursor.cursor, statement, rows, page_size=ROWS_PER_STATEMENT)
        else:
            marks = ", ".join(["%s"] * len(columns))
            cursor.executemany(f"{start}({marks}){tail}", rows)
