"""Calls of operations: by whom, by which function, how often, each token once; errors, pages."""

import base64
import binascii
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

import orjson
from django.db import IntegrityError
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from common.rate_limit import Limit, MemoryBucket
from marketplace import clock
from marketplace.models import IdempotencyToken, Requester
from marketplace.router import atomic

TURK_CODE_PREFIX = "AWS.MechanicalTurk."


class WireError(Exception):
    """Any refusal of a request; `type_name` is what boto3 shows as the error's Code."""

    status = 400

    def __init__(self, type_name: str, message: str, turk_code: str = "") -> None:
        super().__init__(message)
        self.type_name = type_name
        self.message = message
        self.turk_code = turk_code

    def body(self) -> dict[str, str]:
        """Return the JSON object of the reply; messages end in epoch milliseconds, as observed."""
        stamp = int(clock.real_now().timestamp() * 1000)
        body = {"__type": self.type_name, "Message": f"{self.message} ({stamp} s)"}
        if self.turk_code:
            body["TurkErrorCode"] = TURK_CODE_PREFIX + self.turk_code
        return body


class RequestError(WireError):
    """The model's RequestError: what the caller asked for cannot be done."""

    def __init__(self, turk_code: str, message: str) -> None:
        super().__init__("RequestError", message, turk_code)


class ServiceFault(WireError):
    """The model's ServiceFault: our own mistake; clients retry it."""

    status = 500

    def __init__(self, message: str) -> None:
        super().__init__("ServiceFault", message, "ServiceFault")


class Unavailable(ServiceFault):
    """What the service needs is away for a moment: no fault, and clients retry it."""

    status = 503


class InvalidParameter(RequestError):
    """A value that has the right shape and still cannot be meant."""

    def __init__(self, message: str) -> None:
        super().__init__("InvalidParameterValue", message)


class NotSupported(RequestError):
    """Something the service's model offers and this marketplace does not do."""

    def __init__(self, message: str) -> None:
        super().__init__("OperationNotSupported", message)


class DoesNotExist(RequestError):
    """No such thing, or it is somebody else's, which is not told apart."""

    def __init__(self, noun: str, code: str, identifier: str) -> None:
        super().__init__(f"{code}DoesNotExist", f"{noun} {identifier} does not exist.")


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


TOKEN_LIFETIME = timedelta(hours=24)


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
    mine.filter(created_at__lte=call.now - TOKEN_LIFETIME).delete()
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


DEFAULT_PAGE_SIZE = 10
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
    return parameters.get("MaxResults", DEFAULT_PAGE_SIZE), last


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
