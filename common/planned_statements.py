"""Has PostgreSQL plan a statement once for a connection, and not each time it runs.

To plan a join of eight tables takes milliseconds, to run it a fraction of one. A statement is
prepared in the message that runs it first; the least used are let go. What psycopg 3 does by itself
has to be done here for psycopg2. A pooler before PostgreSQL must pool sessions.
"""

import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import count
from typing import Any
from weakref import WeakKeyDictionary

Values = Sequence[Any] | Mapping[str, Any]
# SQL and its values.
Statement = tuple[str, Values]
# So many stay prepared on a connection; what happens all day takes about a hundred.
MOST = 256
PLACE = re.compile(r"%\((\w+)\)s|%s")
# What PostgreSQL does not always see by a value's place, as it would by the value.
TYPES = {bool: "boolean", int: "bigint", datetime: "timestamptz", timedelta: "interval"}

# The names of the statements that a connection has prepared, by their SQL; the last used is last.
_prepared: WeakKeyDictionary[Any, OrderedDict[str, str]] = WeakKeyDictionary()
_numbers = count()


def run(connection: Any, *statements: Statement) -> Any:
    """Return a cursor of the driver's connection on which the last statement has run.

    Those before it run before, in the same message: all are one transaction where none is open.
    Only one that is alone may have no values. Raises the driver's errors.
    """
    cursor = connection.cursor()
    if not statements[-1][1]:
        cursor.execute(*statements[-1])
        return cursor
    prepared = _prepared.setdefault(connection, OrderedDict())
    new: dict[str, str] = {}
    messages: list[str] = []
    given: list[Any] = []
    for statement, values in statements:
        text, names = _numbered(statement)
        own = [values[name] for name in names] if isinstance(values, Mapping) else values
        name = prepared.get(statement)
        if name:
            prepared.move_to_end(statement)
        else:
            name = new[statement] = f"planned_{next(_numbers)}"
            types = ", ".join(TYPES.get(type(value), "unknown") for value in own)
            messages.append(f"PREPARE {name} ({types}) AS {text}")
            if len(prepared) >= MOST:
                messages.append(f"DEALLOCATE {prepared.popitem(last=False)[1]}")
        messages.append(_execute(name, len(own)))
        given += own
    cursor.execute("; ".join(messages), given)
    prepared.update(new)
    return cursor


def _execute(name: str, number: int) -> str:
    return f"EXECUTE {name} ({', '.join(['%s'] * number)})"


@lru_cache(maxsize=1024)
def _numbered(sql: str) -> tuple[str, list[str]]:
    """Return a statement with its places numbered, and the names of those that have one.

    A name that stands twice has two numbers: each place has a type of its own.
    """
    numbers = count(1)
    names = PLACE.findall(sql)
    return PLACE.sub(lambda _: f"${next(numbers)}", sql), names
