"""The one address of the requester API, and of the topics and queues of its events: POST /."""

import json
import logging
import time
import uuid
from dataclasses import dataclass

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse

import marketplace.operations  # noqa: F401  (importing the package registers the operations)
from common.outages import missing
from common.storable import is_text
from common.trace import assignment_digest, note, steps
from marketplace import clock
from marketplace.configuration import calls_per_second
from marketplace.fault_injection import NO_FAULTS, chance_of, faults_of
from marketplace.funds import InsufficientFundsError
from marketplace.metrics import call_seconds
from marketplace.operations.destinations import confirmed
from marketplace.people.accounts import with_old_ids
from marketplace.wire.calls import (
    OPERATIONS,
    QUEUES,
    TOPICS,
    Call,
    NotSupported,
    Operation,
    RequestError,
    ServiceFault,
    Unavailable,
    WireError,
    count_call,
    throttled,
)
from marketplace.wire.shapes import (
    action_of,
    dump_reply,
    dump_xml_error,
    dump_xml_reply,
    load_form,
    load_request,
    operation_names,
)
from marketplace.wire.signature import SERVICE, authenticate, refuse_replay

log = logging.getLogger(__name__)

READING = ("Get", "List")
CONTENT_TYPE = "application/x-amz-json-1.1"


class ReplyLostError(Exception):
    """An injected fault: the call was carried out and its reply does not arrive."""


@dataclass(frozen=True)
class Service:
    """One of the services that clients find here; `signs_for` is its name in signatures."""

    name: str
    signs_for: str
    operations: dict[str, Operation]
    content_type: str


MTURK = Service("mturk", SERVICE, OPERATIONS, CONTENT_TYPE)
SQS = Service("sqs", "sqs", QUEUES, "application/x-amz-json-1.0")
SNS = Service("sns", "sns", TOPICS, "text/xml")
OF_TARGET = {"AmazonSQS": SQS, "MTurkRequesterServiceV20170117": MTURK}


def requester_api(request: HttpRequest) -> HttpResponse:
    """Carry out one signed request and return its reply; every refusal is a documented error."""
    request_id, began = str(uuid.uuid4()), time.perf_counter()
    service, name = MTURK, "unknown"
    headers: dict[str, str] = {}
    try:
        service, name, body = _asked(request)
        status, reply = 200, carry_out(service, name, request, body, request_id)
    except WireError as error:
        if error.status >= 500:
            log.error("request %s: %s", request_id, error.message)
        status, reply, headers = _refusal(service, error, request_id)
    except ReplyLostError:
        status, reply = 504, b""
    except Exception as error:
        # A client retries a 5xx in silence, so an unexpected failure has to be loud here.
        log.exception("request %s failed", request_id)
        said = f"The marketplace failed; its log has the details ({request_id})."
        fault = ServiceFault(said) if missing(error) is None else Unavailable(said)
        status, reply, headers = _refusal(service, fault, request_id)
    steps.info("%s %s", name, status)
    call_seconds.observe(time.perf_counter() - began, name, str(status))
    response = HttpResponse(
        reply, status=status, content_type=service.content_type, headers=headers
    )
    response["x-amzn-RequestId"] = request_id
    response["Cache-Control"] = "no-store"
    # What failed is in the log already, with its error.
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response


def _asked(request: HttpRequest) -> tuple[Service, str, bytes]:
    """Return which operation of which service is asked for, and the body; raises WireError."""
    target = request.META.get("HTTP_X_AMZ_TARGET", "")
    prefix, _, name = target.rpartition(".")
    try:
        body = request.body
    except RequestDataTooBig:
        raise WireError("RequestEntityTooLargeException", "The request is too large.") from None
    service = OF_TARGET.get(prefix)
    if not target and request.content_type == "application/x-www-form-urlencoded":
        service, name = SNS, action_of(body)
    if service is None or name not in operation_names(service.name):
        asked = (target or name)[:100]
        raise WireError("UnknownOperationException", f"There is no operation {asked!r}.")
    return service, name, body


def _refusal(
    service: Service, error: WireError, request_id: str
) -> tuple[int, bytes, dict[str, str]]:
    """Return a refusal as the service's clients read it: status, body, headers."""
    if service is SNS:
        return error.status, dump_xml_error(error, request_id), {}
    if service is MTURK:
        return error.status, json.dumps(error.body()).encode(), {}
    body = {"__type": f"com.amazonaws.sqs#{error.type_name}", "message": error.message}
    # What clients call errors of this service since before it spoke JSON.
    headers = {"x-amzn-query-error": f"{error.turk_code};Sender"} if error.turk_code else {}
    return error.status, json.dumps(body).encode(), headers


def carry_out(
    service: Service, name: str, request: HttpRequest, body: bytes, request_id: str
) -> bytes:
    """Return the reply to one request; raises WireError for every refusal."""
    signed = authenticate(request, body, service.signs_for)
    requester = signed.requester
    faults, chance = faults_of(requester), None
    count_call(requester.pk, calls_per_second())
    if faults is not NO_FAULTS:
        chance = chance_of(requester, faults)
        if chance.random() < faults.throttling:
            raise throttled()
    load = load_form if service is SNS else load_request
    parameters = load(name, body, service.name)
    operation = service.operations.get(name)
    if "AssignmentId" in parameters:
        note(assignment=assignment_digest(str(parameters["AssignmentId"])))
    if operation is None:
        raise NotSupported(f"This marketplace does not do {name}; its README lists what it does.")
    if not name.startswith(READING):
        refuse_replay(signed.attempt, clock.real_now())
    try:
        result = operation(Call(requester, clock.now(), request), parameters)
        result = with_old_ids(requester.pk, result)
    except InsufficientFundsError as error:
        raise RequestError("InsufficientFunds", str(error)) from None
    reply = dump_xml_reply(name, result, request_id) if service is SNS else dump_reply(result)
    if chance is not None and chance.random() < faults.lost_replies:
        raise ReplyLostError
    return reply


def confirm_by_link(request: HttpRequest) -> HttpResponse:
    """Confirm a subscription by its SubscribeURL, which shows the token and is not signed."""
    request_id = str(uuid.uuid4())
    asked = {name: request.GET.get(name, "") for name in ("TopicArn", "Token")}
    if not all(map(is_text, asked.values())):
        asked = dict.fromkeys(asked, "")
    try:
        body = dump_xml_reply("ConfirmSubscription", confirmed(asked), request_id)
        status = 200
    except WireError as error:
        status, body, _ = _refusal(SNS, error, request_id)
    return HttpResponse(body, status=status, content_type=SNS.content_type)
