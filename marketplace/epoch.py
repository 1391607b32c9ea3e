"""Lets the database write a time as the wire does: seconds since 1970, exact to milliseconds."""

from typing import Any

from django.db.models import FloatField, Func


class Epoch(Func):
    """The epoch seconds of a time column; a hundred rows' times cost little this way."""

    output_field = FloatField()
    arity = 1
    template = "ROUND(EXTRACT(EPOCH FROM %(expressions)s)::numeric, 3)::float8"

    def get_db_converters(self, connection: Any) -> list[Any]:
        """Return nothing to call on each value: both databases give floats."""
        return []

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """Return SQL for SQLite, whose times are text and Julian days exact to milliseconds."""
        # 2440587.5 is the Julian day on which 1970 began.
        milliseconds = "(JULIANDAY(%(expressions)s) - 2440587.5) * 86400000.0"
        template = f"CAST({milliseconds} + 0.5 AS INTEGER) / 1000.0"
        return self.as_sql(compiler, connection, template=template, **context)
