"""Follows one request, lease or assignment through every process: the same words in all their logs.

`request` is one id from the page or the job that began something through each call that it makes.
`assignment` stands for an assignment at Collector and at the marketplace alike; it is a digest,
because with an assignment's id one can hand in for its worker. Only logs as JSON lines have all
of this.
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
# What others send us is written into logs: words alone.
REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
TEXT, JSON = "text", "json"
# What happens, step by step; kept back where logs are for people.
steps = logging.getLogger("steps")
_fields: ContextVar[Mapping[str, object]] = ContextVar("trace", default={})  # noqa: B039
# And the password in a service's address.
SECRET = re.compile(r"(/(?:accepted|enter|hit/sent)/)[^/\s?]+|(://[^\s/:@]*:)[^\s/@]+(?=@)")


def new_request_id() -> str:
    """Return an id for what begins here."""
    return uuid.uuid4().hex


def request_id() -> str:
    """Return the id of what is going on, "" for nothing that is followed."""
    return str(_fields.get().get("request", ""))


def assignment_digest(assignment_id: str) -> str:
    """Return what stands for an assignment in logs: it opens nothing."""
    return hashlib.sha256(assignment_id.encode()).hexdigest()[:16]


@contextmanager
def traced(**fields: object) -> Iterator[None]:
    """Have what is logged in the block say these fields too."""
    before = _fields.set({**_fields.get(), **fields})
    try:
        yield
    finally:
        _fields.reset(before)


def note(**fields: object) -> None:
    """Have what is logged from here to the end of the block around it say these fields too."""
    if _fields.get():
        _fields.set({**_fields.get(), **fields})


class JsonLines(logging.Formatter):
    """Writes each record as one line of JSON, with what is followed."""

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
    """Gives each request an id, that of who asks where they send one, and logs its outcome."""

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        if getattr(settings, "LOG_FORMAT", TEXT) != JSON:
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> Any:
        """Answer; the response says the id."""
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
    """Writes … in place of the secret in a path, wherever in a line it stands."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Take the secrets out of a record and its traceback; it is always written."""
        said = record.getMessage()
        if SECRET.search(said):
            record.msg, record.args = _without(said), ()
        if record.exc_info:
            # Formatters write the text that is there.
            text = record.exc_text or logging.Formatter().formatException(record.exc_info)
            record.exc_text = _without(text)
        if record.stack_info:
            record.stack_info = _without(record.stack_info)
        return True


def _without(text: str) -> str:
    return SECRET.sub(r"\1\2…", text)
