"""Pages of results, with NextTokens that stay right while rows are added and deleted."""

import base64
import binascii
import json
from collections.abc import Callable
from typing import Any, TypeVar

import orjson
from django.db.models import Model, QuerySet

from marketplace.wire.errors import InvalidParameter

DEFAULT_SIZE = 10
FOREIGN_TOKEN = "This NextToken was not given out by this operation."
Row = TypeVar("Row", bound=Model)


def page_of(
    rows: QuerySet[Row], parameters: dict[str, Any], newest_first: bool = False
) -> tuple[list[Row], str | None]:
    """Return one page of rows and the token of what comes after, None when there are no rows.

    Rows are ordered by key; a token names the last row shown, so nothing is shown twice or passed
    over when others appear. Raises InvalidParameter for a token not ours.
    """
    size, last = page_asked(parameters, int)
    if last is not None:
        rows = rows.filter(**{"pk__lt" if newest_first else "pk__gt": last[1]})
    found = list(rows.order_by("-pk" if newest_first else "pk")[:size])
    return found, token_after(found[-1].pk, found[-1].pk) if found else None


def page_asked(parameters: dict[str, Any], kind: type) -> tuple[int, tuple[Any, int] | None]:
    """Return the size of the page asked for, and name and key of the last row shown before it.

    `kind` is that of the names (int or str) in the operation's tokens; raises InvalidParameter for
    any other token.
    """
    token = parameters.get("NextToken")
    last = None if token is None else _decode(token, kind)
    return parameters.get("MaxResults", DEFAULT_SIZE), last


def listing(
    name: str, rows: list[Any], token: str | None, describe: Callable[[Any], dict[str, Any]]
) -> dict[str, Any]:
    """Return the reply that every List operation gives, `name` being the member with the rows."""
    return {"NumResults": len(rows), "NextToken": token, name: [describe(row) for row in rows]}


def token_after(name: int | str, key: int) -> str:
    """Return the token of the page after the row with this name and key.

    Every page with rows gets one, the last too: clients loop until a page is empty and read the
    token of each page before it.
    """
    return base64.urlsafe_b64encode(orjson.dumps([name, key])).decode()


def _decode(token: str, kind: type) -> tuple[Any, int]:
    try:
        name, key = json.loads(base64.urlsafe_b64decode(token.encode()))
        if type(name) is not kind or type(key) is not int or abs(key) >= 2**63:
            raise ValueError(name, key)
        return name, key
    except (ValueError, TypeError, binascii.Error, RecursionError):
        raise InvalidParameter(FOREIGN_TOKEN) from None
