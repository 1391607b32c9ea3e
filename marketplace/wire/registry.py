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
# What clients ask of the two services that carried events: topics (SNS) and queues (SQS).
TOPICS: dict[str, Operation] = {}
QUEUES: dict[str, Operation] = {}


def operation(
    name: str, among: dict[str, Operation] = OPERATIONS
) -> Callable[[Operation], Operation]:
    """Register the decorated function as the operation `name` of the service's model."""

    def register(function: Operation) -> Operation:
        among[name] = function
        return function

    return register
