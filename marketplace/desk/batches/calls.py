"""Calls the requester API's own operations for somebody at the desk: one way, not two."""

import json
from typing import Any

from django.http import HttpRequest

import marketplace.operations  # noqa: F401  (importing the package registers the operations)
from marketplace import clock
from marketplace.models import Requester
from marketplace.money.funds import InsufficientFundsError
from marketplace.wire.errors import RequestError
from marketplace.wire.registry import OPERATIONS, Call
from marketplace.wire.shapes import load_request


def call_of(request: HttpRequest, requester: Requester) -> Call:
    """Return a call made now in the requester's name, as if it had come over the wire."""
    return Call(requester, clock.now(), request)


def carry_out(call: Call, name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the result of an operation, parameters checked as on the wire.

    Raises WireError; its `message` is a sentence for the requester.
    """
    checked = load_request(name, json.dumps(parameters).encode())
    try:
        return OPERATIONS[name](call, checked)
    except InsufficientFundsError as error:
        raise RequestError("InsufficientFunds", str(error)) from None
