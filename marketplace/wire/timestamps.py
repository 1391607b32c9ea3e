"""Lets the database write a time nearly as the wire does: whole milliseconds since 1970."""

from typing import Any

from django.db.models import BigIntegerField, Func


class Epoch(Func):
    """The epoch milliseconds of a time column; drivers read integers faster than floats."""

    output_field = BigIntegerField()
    arity = 1
    template = "(EXTRACT(EPOCH FROM %(expressions)s) * 1000)::bigint"

    def get_db_converters(self, connection: Any) -> list[Any]:
        """Return nothing to call on each value: both databases give integers."""
        return []

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """Return SQL for SQLite, whose times are text and Julian days exact to milliseconds."""
        # 2440587.5 is the Julian day on which 1970 began.
        template = "CAST((JULIANDAY(%(expressions)s) - 2440587.5) * 86400000.0 + 0.5 AS INTEGER)"
        return self.as_sql(compiler, connection, template=template, **context)
