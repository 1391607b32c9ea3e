"""Pages of results whose tokens stay right while rows arrive and go."""

import base64
import binascii
import json
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

from django.db.models import Model, QuerySet

from marketplace.wire.errors import InvalidParameter

DEFAULT_SIZE = 10
Row = TypeVar("Row", bound=Model)


def page_of(
    rows: QuerySet[Row], parameters: dict[str, Any], newest_first: bool = False
) -> tuple[list[Row], str | None]:
    """Return one page of rows and the token of the next page, None at the end.

    Rows are ordered by key; a token names the last row shown, so nothing is shown twice or passed
    over when others appear. Raises InvalidParameter for a token not ours.
    """
    size, last = page_asked(parameters, int)
    if last is not None:
        rows = rows.filter(**{"pk__lt" if newest_first else "pk__gt": last[1]})
    found = list(rows.order_by("-pk" if newest_first else "pk")[: size + 1])
    if len(found) <= size:
        return found, None
    key = found[size - 1].pk
    return found[:size], token_after(key, key)


def page_asked(parameters: dict[str, Any], kind: type) -> tuple[int, tuple[Any, int] | None]:
    """Return the size of the page asked for, and value and key of the last row shown before it.

    `kind` is that of the values the operation orders by (int or datetime); raises InvalidParameter
    for a token of anything else.
    """
    token = parameters.get("NextToken")
    last = None if token is None else _decode(token, kind)
    return parameters.get("MaxResults", DEFAULT_SIZE), last


def listing(
    name: str, rows: list[Any], token: str | None, describe: Callable[[Any], dict[str, Any]]
) -> dict[str, Any]:
    """Return the reply that every List operation gives, `name` being the member with the rows."""
    return {"NumResults": len(rows), "NextToken": token, name: [describe(row) for row in rows]}


def token_after(value: Any, key: int) -> str:
    """Return the token of the page after the row with this key and value of its order."""
    last = [value if isinstance(value, int) else value.isoformat(), key]
    return base64.urlsafe_b64encode(json.dumps(last).encode()).decode()


def _decode(token: str, kind: type) -> tuple[Any, int]:
    try:
        value, key = json.loads(base64.urlsafe_b64decode(token.encode()))
        if kind is datetime:
            value = datetime.fromisoformat(value)
            if value.tzinfo is None:
                raise ValueError(value)
        elif type(value) is not int:
            raise ValueError(value)
        if type(key) is not int or abs(key) >= 2**63:
            raise ValueError(key)
        return value, key
    except (ValueError, TypeError, binascii.Error, RecursionError):
        raise InvalidParameter("This NextToken was not given out by this operation.") from None
