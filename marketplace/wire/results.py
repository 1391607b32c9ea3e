"""Pages of results whose tokens stay right while rows arrive and go."""

import base64
import binascii
import json
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

from django.db.models import Model, Q, QuerySet

from marketplace.wire.errors import InvalidParameter

DEFAULT_SIZE = 10
Row = TypeVar("Row", bound=Model)


def page_of(
    rows: QuerySet[Row], parameters: dict[str, Any], by: str = "pk", newest_first: bool = False
) -> tuple[list[Row], str | None]:
    """Return one page of rows and the token of the next page, None at the end.

    Rows are ordered by the field `by`, then by key; a token names the last row shown, so nothing is
    shown twice or passed over when others appear. Raises InvalidParameter for a token not ours.
    """
    size, last = page_asked(parameters)
    if last is not None:
        rows = rows.filter(_beyond(last, by, "lt" if newest_first else "gt"))
    sign = "-" if newest_first else ""
    found = list(rows.order_by(f"{sign}{by}", f"{sign}pk")[: size + 1])
    if len(found) <= size:
        return found, None
    return found[:size], token_after(getattr(found[size - 1], by), found[size - 1].pk)


def page_asked(parameters: dict[str, Any]) -> tuple[int, list[Any] | None]:
    """Return the size of the page asked for, and value and key of the last row shown before it."""
    token = parameters.get("NextToken")
    return parameters.get("MaxResults", DEFAULT_SIZE), None if token is None else _decode(token)


def listing(
    name: str, rows: list[Any], token: str | None, describe: Callable[[Any], dict[str, Any]]
) -> dict[str, Any]:
    """Return the reply that every List operation gives, `name` being the member with the rows."""
    return {"NumResults": len(rows), "NextToken": token, name: [describe(row) for row in rows]}


def _beyond(last: list[Any], by: str, side: str) -> Q:
    value, key = last
    return Q(**{f"{by}__{side}": value}) | Q(**{by: value, f"pk__{side}": key})


def token_after(value: Any, key: int) -> str:
    """Return the token of the page after the row with this key and value of its order."""
    last = [value if isinstance(value, int) else value.isoformat(), key]
    return base64.urlsafe_b64encode(json.dumps(last).encode()).decode()


def _decode(token: str) -> list[Any]:
    try:
        last = json.loads(base64.urlsafe_b64decode(token.encode()))
        value, key = last
        if type(key) is not int or abs(key) >= 2**63:
            raise ValueError(key)
        if type(value) is int and abs(value) < 2**63:
            return [value, key]
        return [datetime.fromisoformat(value), key]
    except (ValueError, TypeError, binascii.Error, RecursionError):
        raise InvalidParameter("This NextToken was not given out by this operation.") from None
