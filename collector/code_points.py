"""Orders rows by a text as Python does, whatever collation the database was made with."""

from typing import Any

from django.db.models import Func


class CodePoints(Func):
    """A text in `order_by`, compared by code points, as SQLite does by itself.

    What is drawn, numbered or written to a file goes by it: PostgreSQL's own order of texts is that
    of the server's locale.
    """

    template = "%(expressions)s"
    arity = 1

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """Return the SQL for PostgreSQL."""
        template = '(%(expressions)s) COLLATE "C"'
        return self.as_sql(compiler, connection, template=template, **context)
