"""Maps the names of operations to the functions that carry them out."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest

from marketplace.models import Requester


@dataclass(frozen=True)
class Call:
    """One verified request: who asks, when, and through which address of the marketplace."""

    requester: Requester
    now: datetime
    request: HttpRequest


Operation = Callable[[Call, dict[str, Any]], dict[str, Any]]
OPERATIONS: dict[str, Operation] = {}


def operation(name: str) -> Callable[[Operation], Operation]:
    """Register the decorated function as the operation `name` of the service's model."""

    def register(function: Operation) -> Operation:
        OPERATIONS[name] = function
        return function

    return register
