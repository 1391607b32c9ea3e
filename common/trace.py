"""Follows one request, lease or assignment through all processes, by the same fields in their logs.

`request` is an id that a page or a job passes on in each call that it makes. `assignment` is an
assignment's name in the logs of Collector and of the marketplace. It is a digest, because a client
with an assignment's id can hand in for its worker. Only logs as JSON lines have all these fields.
"""

import hashlib
import json
import logging
import re
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest

HEADER = "X-Request-Id"
# Ids that clients send are written into logs, so only plain characters are allowed.
REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
TEXT, JSON = "text", "json"
# One line per step; left out of logs that are text for people.
steps = logging.getLogger("steps")
_fields: ContextVar[Mapping[str, object]] = ContextVar("trace", default={})  # noqa: B039
# The secret in some paths, and the password in a service's address.
SECRET = re.compile(r"(/(?:accepted|enter|hit/sent)/)[^/\s?]+|(://[^\s/:@]*:)[^\s/@]+(?=@)")


def new_request_id() -> str:
    """Return an id for a request or a job that begins here."""
    return uuid.uuid4().hex


def request_id() -> str:
    """Return the id of the current request or job; "" if none is traced."""
    return str(_fields.get().get("request", ""))


def assignment_digest(assignment_id: str) -> str:
    """Return the digest that identifies an assignment in logs and gives no access to it."""
    return hashlib.sha256(assignment_id.encode()).hexdigest()[:16]


@contextmanager
def traced(**fields: object) -> Iterator[None]:
    """Add these fields to everything that is logged in the block."""
    before = _fields.set({**_fields.get(), **fields})
    try:
        yield
    finally:
        _fields.reset(before)


def note(**fields: object) -> None:
    """Add these fields to everything that is logged from here to the end of the traced block."""
    if _fields.get():
        _fields.set({**_fields.get(), **fields})


class JsonLines(logging.Formatter):
    """Writes each record as one line of JSON, with the traced fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; an error's traceback is in it."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {
            "at": at,
            "level": record.levelname.lower(),
            "logger": record.name,
            "process": record.process,
            **_fields.get(),
            **getattr(record, "step", {}),
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["error"] = record.exc_text or self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


class RequestTrace:
    """Gives each request an id, the client's if it sends one, and logs the outcome."""

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        if getattr(settings, "LOG_FORMAT", TEXT) != JSON:
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> Any:
        """Return the response, with the id in a header."""
        sent = request.headers.get(HEADER, "")
        name = sent if REQUEST_ID.fullmatch(sent) else new_request_id()
        began = time.perf_counter()
        with traced(request=name):
            response = self.get_response(request)
            match = request.resolver_match
            page = (match.view_name or "unnamed") if match else "none"
            step = {"ms": round(1000 * (time.perf_counter() - began), 1)}
            steps.info("%s %s %s", request.method, page, response.status_code, extra={"step": step})
        response.headers[HEADER] = name
        return response


class WithoutSecrets(logging.Filter):
    """Writes … in place of the secret in a path, anywhere in a line."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Remove the secrets from a record and its traceback; return True, to have it written."""
        said = record.getMessage()
        if SECRET.search(said):
            record.msg, record.args = _without(said), ()
        if record.exc_info:
            # Formatters write `exc_text` if it is set.
            text = record.exc_text or logging.Formatter().formatException(record.exc_info)
            record.exc_text = _without(text)
        if record.stack_info:
            record.stack_info = _without(record.stack_info)
        return True


def _without(text: str) -> str:
    return SECRET.sub(r"\1\2…", text)
