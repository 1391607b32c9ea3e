"""Maps the names of operations to the functions that carry them out."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest

from marketplace.models import Requester


@dataclass(frozen=True)
class Call:
    """One verified request: who asks, when, and through which address of the marketplace.

    `attempt` names this attempt of it, "" if nothing does (signature.py).
    """

    requester: Requester
    now: datetime
    request: HttpRequest
    attempt: str = ""


Operation = Callable[[Call, dict[str, Any]], dict[str, Any]]
OPERATIONS: dict[str, Operation] = {}
# Those that remember their attempts themselves, with what they change (replays.py).
REMEMBERING: set[str] = set()


def operation(name: str, is_remembering: bool = False) -> Callable[[Operation], Operation]:
    """Register the decorated function as the operation `name` of the service's model."""

    def register(function: Operation) -> Operation:
        OPERATIONS[name] = function
        if is_remembering:
            REMEMBERING.add(name)
        return function

    return register
