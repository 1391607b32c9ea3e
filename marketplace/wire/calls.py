"""Calls of operations: who asks, by which function, how often, and each token once."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError
from django.http import HttpRequest

from common.rate_limit import Limit, MemoryBucket
from marketplace.models import IdempotencyToken, Requester
from marketplace.router import atomic
from marketplace.wire.errors import WireError


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


LIFETIME = timedelta(hours=24)


class AlreadyDoneError(Exception):
    """This token was used before; `subject` is what that request made."""

    def __init__(self, subject: str) -> None:
        super().__init__(subject)
        self.subject = subject


def claim_token(call: Call, operation: str, token: str | None, subject: str) -> None:
    """Use up a token for `subject`; raises AlreadyDoneError when it was used within a day.

    Expects the transaction that makes the subject, so that both are kept or neither. Two requests
    with one token meet at the unique index: the second waits for the first and finds its subject.
    """
    if token is None:
        return
    mine = IdempotencyToken.objects.filter(
        requester=call.requester, operation=operation, token=token
    )
    mine.filter(created_at__lte=call.now - LIFETIME).delete()
    try:
        with atomic():
            IdempotencyToken.objects.create(
                requester=call.requester,
                operation=operation,
                token=token,
                subject=subject,
                created_at=call.now,
            )
    except IntegrityError:
        raise AlreadyDoneError(mine.get().subject) from None


BURST_SECONDS = 2
_buckets: dict[int, MemoryBucket] = {}


def count_call(account: int, calls_per_second: float, now: float | None = None) -> None:
    """Count one call of an account; raises `ThrottlingException` when it comes too soon.

    `now` is a monotonic time in seconds; 0 calls per second means no limit.
    """
    if calls_per_second <= 0:
        return
    limit = Limit(max(1.0, calls_per_second * BURST_SECONDS), 1 / calls_per_second)
    bucket = _buckets.setdefault(account, MemoryBucket())
    if bucket.take(limit, time.monotonic() if now is None else now):
        raise throttled()


def throttled() -> WireError:
    """Return the refusal of a call that came too soon."""
    return WireError("ThrottlingException", "Rate exceeded")
