"""The requester API of a marketplace, through an unmodified boto3 client."""

import json
import random
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, TypedDict, cast

from django.conf import settings

from common.trace import HEADER, request_id, steps

# Statuses of a server that cannot be had, in place of a reply.
UNAVAILABLE = (502, 503, 504)
# What it says of our keys or our clock, in place of a reply: nothing of what was asked for.
LOCKED_OUT = frozenset(
    {
        "IncompleteSignatureException",
        "InvalidSignatureException",
        "MissingAuthenticationTokenException",
        "UnrecognizedClientException",
    }
)
# While it does not answer it is asked a little more seldom; who waits for its return does not long.
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.5, 1.0
# Between tries of one call there are up to one and two seconds; the next round is another try.
TRIES = 3
_waited_for = ContextVar("waited_for", default=False)


class MarketplaceError(Exception):
    """The marketplace refused or did not answer; `permanent` tells that a retry cannot help.

    `missing_service` names it when it did not answer, for a log that says so once; else "".
    """

    def __init__(
        self, message: str, *, permanent: bool, code: str = "", is_away: bool = False
    ) -> None:
        super().__init__(message)
        self.permanent = permanent
        self.code = code
        self.missing_service = "marketplace" if is_away else ""

    @property
    def is_refusal(self) -> bool:
        """Return whether it said no, be it to our keys: its words tell what to do."""
        return self.permanent or self.code in LOCKED_OUT


class Backoff:
    """For how long nobody asks a marketplace that has not answered, in one process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.answered()

    def answered(self) -> None:
        """Note that it is there."""
        self._until, self._pause, self._why, self._code = 0.0, 0.0, "", ""

    def missed(self, why: str, code: str = "") -> None:
        """Note that it did not answer: the pause doubles, and nobody's is as long as another's."""
        with self._lock:
            if time.monotonic() < self._until:
                return
            pause = min(max(2 * self._pause, FIRST_PAUSE_SECONDS), LONGEST_PAUSE_SECONDS)
            self._pause, self._why, self._code = pause, why, code
            self._until = time.monotonic() + pause * random.uniform(0.5, 1.0)

    def check(self) -> None:
        """Raise MarketplaceError, as the last call did, while nobody is to ask again."""
        if time.monotonic() < self._until:
            raise MarketplaceError(self._why, permanent=False, code=self._code, is_away=True)


@cache
def _absence(endpoint: str) -> Backoff:
    return Backoff()


@dataclass(frozen=True)
class Keys:
    """The requester account's keys and the secret its frames' addresses are signed with."""

    access_key_id: str
    secret_access_key: str
    entry_secret: str


def read_keys(path: Path) -> Keys:
    """Return the keys in the JSON file at `path`.

    Raises MarketplaceError, permanent, when there is none: the account was never made.
    """
    try:
        found = json.loads(path.read_text("utf-8"))
        return Keys(found["access_key_id"], found["secret_access_key"], found["entry_secret"])
    except (OSError, ValueError, KeyError, TypeError):
        raise MarketplaceError(
            f"There are no marketplace keys in {path}. Start Collector once with `make run`, or "
            "set MTURK_KEYS_FILE to the file the marketplace's host gave you.",
            permanent=True,
        ) from None


@contextmanager
def asked_once() -> Iterator[None]:
    """Ask the marketplace once and briefly in the block: somebody waits for a page."""
    before = _waited_for.set(True)
    try:
        yield
    finally:
        _waited_for.reset(before)


@cache
def _client(endpoint: str, keys: Keys, is_waited_for: bool) -> Any:
    import boto3
    from botocore.config import Config

    loopback: dict[str, Any] = (
        {"proxies": {}} if "//127.0.0.1" in endpoint or "//localhost" in endpoint else {}
    )
    client = boto3.client(
        "mturk",
        region_name="us-east-1",
        endpoint_url=endpoint,
        aws_access_key_id=keys.access_key_id,
        aws_secret_access_key=keys.secret_access_key,
        config=Config(
            retries={"mode": "standard", "max_attempts": 1 if is_waited_for else TRIES},
            connect_timeout=2 if is_waited_for else 5,
            read_timeout=5 if is_waited_for else 30,
            **loopback,
        ),
    )
    # After it was signed: what it says of a log is no part of the call.
    client.meta.events.register("before-send.mturk.*", _say_who_asks)
    return client


def _say_who_asks(request: Any, **_: object) -> None:
    if name := request_id():
        request.headers[HEADER] = name


class Requirement(TypedDict):
    """What is read of a qualification requirement of a HIT."""

    QualificationTypeId: str
    Comparator: str


class WireRow(TypedDict, total=False):
    """What is read of one row of a list operation: a HIT, an assignment, a bonus or a type."""

    HITId: str
    HITTypeId: str
    RequesterAnnotation: str
    NumberOfAssignmentsPending: int
    AssignmentId: str
    AssignmentStatus: str
    WorkerId: str
    Answer: str
    SubmitTime: datetime
    AutoApprovalTime: datetime
    BonusAmount: str
    Reason: str
    GrantTime: datetime
    Name: str
    QualificationTypeId: str
    Keywords: str
    IsRequestable: bool
    QualificationRequirements: list[Requirement]


class Reply(TypedDict, total=False):
    """What is read of an operation's reply; each has some of it."""

    HITTypeId: str
    HIT: WireRow
    Assignment: WireRow
    QualificationType: WireRow
    Qualification: WireRow
    NextToken: str
    NotifyWorkersFailureStatuses: list[WireRow]


def call(operation: str, **parameters: object) -> Reply:
    """Return the reply of one requester operation; never called inside a transaction.

    Raises MarketplaceError: permanent for a refusal, not for throttling, silence or keys and clocks
    that it does not take; after those for a pause without asking again.
    """
    from botocore.exceptions import BotoCoreError, ClientError

    endpoint = settings.MTURK_CONNECT_URL or settings.MTURK_ENDPOINT_URL
    absence = _absence(endpoint)
    absence.check()
    keys = read_keys(settings.MTURK_KEYS_FILE)
    client = _client(endpoint, keys, _waited_for.get())
    try:
        reply: Reply = getattr(client, operation)(**parameters)
        steps.info("asked the marketplace: %s", operation)
    except ClientError as error:
        status = error.response["ResponseMetadata"]["HTTPStatusCode"]
        code = error.response.get("TurkErrorCode", error.response["Error"]["Code"])
        retry = status >= 500 or error.response["Error"]["Code"] == "ThrottlingException"
        # A caller that is not let in has been refused nothing: all of it is asked for again.
        is_away = status in UNAVAILABLE or code in LOCKED_OUT
        if is_away:
            absence.missed(str(error), code)
        else:
            absence.answered()
        raise MarketplaceError(
            str(error), permanent=not (retry or is_away), code=code, is_away=is_away
        ) from error
    except BotoCoreError as error:
        why = f"The marketplace at {endpoint} does not answer: {error}. "
        why += "Is it running?"
        absence.missed(why)
        raise MarketplaceError(why, permanent=False, is_away=True) from error
    absence.answered()
    return reply


def pages(operation: str, key: str, **parameters: object) -> Iterator[WireRow]:
    """Yield every row under `key` of a list operation, page by page."""
    token: dict[str, str] = {}
    while True:
        reply = call(operation, MaxResults=100, **parameters, **token)
        yield from cast(Mapping[str, list[WireRow]], reply).get(key, [])
        if not reply.get("NextToken"):
            return
        token = {"NextToken": reply["NextToken"]}
