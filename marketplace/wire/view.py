"""The one address of the requester API: POST / with X-Amz-Target."""

import json
import logging
import time
import uuid

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse

import marketplace.operations  # noqa: F401  (importing the package registers the operations)
from common.outages import missing
from common.trace import assignment_digest, note, steps
from marketplace import clock
from marketplace.configuration import calls_per_second
from marketplace.metrics import called
from marketplace.money.funds import InsufficientFundsError
from marketplace.wire.call_limit import take, throttled
from marketplace.wire.errors import (
    NotSupported,
    RequestError,
    ServiceFault,
    Unavailable,
    WireError,
)
from marketplace.wire.fault_injection import NO_FAULTS, chance_of, faults_of
from marketplace.wire.registry import OPERATIONS, Call
from marketplace.wire.shapes import dump_reply, load_request, operation_names
from marketplace.wire.signature import authenticate, refuse_replay

log = logging.getLogger(__name__)

READING = ("Get", "List")
TARGET_PREFIX = "MTurkRequesterServiceV20170117."
CONTENT_TYPE = "application/x-amz-json-1.1"


class ReplyLostError(Exception):
    """An injected fault: the call was carried out and its reply does not arrive."""


def requester_api(request: HttpRequest) -> HttpResponse:
    """Carry out one signed request and return its reply; every refusal is a documented error."""
    request_id, began = str(uuid.uuid4()), time.perf_counter()
    try:
        status, body = 200, carry_out(request)
    except WireError as error:
        if error.status >= 500:
            log.error("request %s: %s", request_id, error.message)
        status, body = error.status, json.dumps(error.body()).encode()
    except ReplyLostError:
        status, body = 504, b""
    except Exception as error:
        # A client retries a 5xx in silence, so an unexpected failure has to be loud here.
        log.exception("request %s failed", request_id)
        said = f"The marketplace failed; its log has the details ({request_id})."
        fault = ServiceFault(said) if missing(error) is None else Unavailable(said)
        status, body = fault.status, json.dumps(fault.body()).encode()
    steps.info("%s %s", _operation(request), status)
    called.observe(time.perf_counter() - began, _operation(request), str(status))
    response = HttpResponse(body, status=status, content_type=CONTENT_TYPE)
    response["x-amzn-RequestId"] = request_id
    response["Cache-Control"] = "no-store"
    # What failed is in the log already, with its error.
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response


def _operation(request: HttpRequest) -> str:
    """Return the name of the operation that was asked for, or that there is none such."""
    name = request.META.get("HTTP_X_AMZ_TARGET", "").removeprefix(TARGET_PREFIX)
    return name if name in operation_names() else "unknown"


def carry_out(request: HttpRequest) -> bytes:
    """Return the JSON reply to one request; raises WireError for every refusal."""
    target = request.META.get("HTTP_X_AMZ_TARGET", "")
    name = target.removeprefix(TARGET_PREFIX)
    if not target.startswith(TARGET_PREFIX) or name not in operation_names():
        raise WireError("UnknownOperationException", f"There is no operation {target[:100]!r}.")
    try:
        body = request.body
    except RequestDataTooBig:
        raise WireError("RequestEntityTooLargeException", "The request is too large.") from None
    signed = authenticate(request, body)
    requester = signed.requester
    faults, chance = faults_of(requester), None
    take(requester.pk, calls_per_second())
    if faults is not NO_FAULTS:
        chance = chance_of(requester, faults)
        if chance.random() < faults.throttling:
            raise throttled()
    parameters = load_request(name, body)
    operation = OPERATIONS.get(name)
    if "AssignmentId" in parameters:
        note(assignment=assignment_digest(str(parameters["AssignmentId"])))
    if operation is None:
        raise NotSupported(f"This marketplace does not do {name}; its README lists what it does.")
    if not name.startswith(READING):
        refuse_replay(signed.attempt, clock.real_now())
    try:
        result = operation(Call(requester, clock.now(), request), parameters)
    except InsufficientFundsError as error:
        raise RequestError("InsufficientFunds", str(error)) from None
    reply = dump_reply(result)
    if chance is not None and chance.random() < faults.lost_replies:
        raise ReplyLostError
    return reply
