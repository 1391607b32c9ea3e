"""Qualification requests: listed, accepted, rejected."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from marketplace.models import QualificationRequest, Requester, RequestState
from marketplace.notifications.decision_messages import (
    description_of,
    reason_of,
    tell_of_qualification,
)
from marketplace.operations.ownership import own_type
from marketplace.people.qualifications.grants import grant, locked_request
from marketplace.router import DATABASE
from marketplace.wire.errors import DoesNotExist, RequestError
from marketplace.wire.pagination import listing, page_of
from marketplace.wire.registry import Call, operation


def open_requests(requester: Requester) -> QuerySet[QualificationRequest]:
    """Return the requests that wait for this requester's answer, oldest first."""
    rows = QualificationRequest.objects.filter(
        qualification_type__requester=requester,
        qualification_type__deleted_at=None,
        state=RequestState.PENDING,
    )
    return rows.order_by("pk")


@operation("ListQualificationRequests")
def list_qualification_requests(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return a page of the requests that wait for the caller's answer, oldest first."""
    rows = open_requests(call.requester)
    if "QualificationTypeId" in parameters:
        rows = rows.filter(qualification_type=own_type(call, parameters["QualificationTypeId"]))
    found, token = page_of(rows.select_related("worker", "qualification_type"), parameters)
    return listing("QualificationRequests", found, token, describe_request)


def describe_request(row: QualificationRequest) -> dict[str, Any]:
    """Return the model's QualificationRequest; expects worker and type loaded."""
    return {
        "QualificationRequestId": row.request_id,
        "QualificationTypeId": row.qualification_type.qualification_type_id,
        "WorkerId": row.worker.worker_id,
        "Test": row.test or None,
        "Answer": row.answer or None,
        "SubmitTime": row.submitted_at,
    }


@operation("AcceptQualificationRequest")
def accept_qualification_request(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Grant what a worker asked for."""
    with _pending(call, parameters["QualificationRequestId"]) as row:
        grant(row.qualification_type, row.worker, parameters.get("IntegerValue", 1), call.now)
        row.state, row.decided_at = RequestState.GRANTED, call.now
        row.save()
        given, what = row.qualification_type, description_of(row.qualification_type)
        tell_of_qualification(given, row.worker, "qualification_given", what, call.now)
    return {}


@operation("RejectQualificationRequest")
def reject_qualification_request(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Decline a request and tell the worker why."""
    with _pending(call, parameters["QualificationRequestId"]) as row:
        row.state, row.decided_at = RequestState.REJECTED, call.now
        row.reason = parameters.get("Reason", "")
        row.save()
        why = reason_of(row.reason)
        tell_of_qualification(row.qualification_type, row.worker, "request_declined", why, call.now)
    return {}


@contextmanager
def _pending(call: Call, request_id: str) -> Iterator[QualificationRequest]:
    with transaction.atomic(using=DATABASE):
        own = QualificationRequest.objects.filter(qualification_type__requester=call.requester)
        asked = own.filter(request_id=request_id).first()
        row = asked and locked_request(asked)
        if row is None:
            raise DoesNotExist("QualificationRequest", "QualificationRequest", request_id)
        if row.state != RequestState.PENDING:
            raise RequestError(
                "InvalidQualificationRequestState", "This request has been decided already."
            )
        yield row
