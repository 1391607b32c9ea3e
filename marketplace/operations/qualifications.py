"""Qualifications given to workers, taken away and read."""

from typing import Any

from django.db import transaction

from marketplace.models import QualificationGrant
from marketplace.notifications.decision_messages import (
    description_of,
    reason_of,
    tell_of_qualification,
)
from marketplace.notifications.system_messages import own_message
from marketplace.operations.descriptions import describe_qualification
from marketplace.operations.ownership import expected_worker, known_worker, listable_type, own_type
from marketplace.people.qualifications.earned_qualifications import is_earned_by_work
from marketplace.people.qualifications.grants import grant
from marketplace.router import DATABASE
from marketplace.wire.errors import RequestError
from marketplace.wire.pagination import listing, page_of
from marketplace.wire.registry import Call, operation


@operation("AssociateQualificationWithWorker")
def associate_qualification(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Give a worker a qualification, or change its value, and tell them unless asked not to."""
    row = own_type(call, parameters["QualificationTypeId"])
    worker = expected_worker(call, parameters["WorkerId"])
    with transaction.atomic(using=DATABASE):
        grant(row, worker, parameters.get("IntegerValue", 1), call.now)
        if parameters.get("SendNotification", True):
            what = description_of(row)
            tell_of_qualification(row, worker, "qualification_given", what, call.now)
    return {}


@operation("DisassociateQualificationFromWorker")
def disassociate_qualification(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Take a qualification away and tell the worker why.

    Of one that is earned by work, a value of 0 is what whoever did not pass has.
    """
    found, words = _granted(call, parameters), parameters.get("Reason", "")
    row = found.qualification_type
    is_failed = is_earned_by_work(row) and found.integer_value == 0
    key = "test_not_passed" if is_failed else "qualification_withdrawn"
    with transaction.atomic(using=DATABASE):
        held = QualificationGrant.objects.filter(pk=found.pk, is_revoked=False)
        # Of two that take it away at once, one does.
        if held.update(is_revoked=True, **own_message("reason", words)):
            tell_of_qualification(row, found.worker, key, reason_of(words), call.now)
    return {}


@operation("GetQualificationScore")
def get_qualification_score(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return a worker's qualification of one of the caller's types."""
    return {"Qualification": describe_qualification(_granted(call, parameters))}


@operation("ListWorkersWithQualificationType")
def list_workers_with_qualification(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return a page of the workers who have the qualification, or had it (Status=Revoked).

    Of a group of the host's everybody is told its members, by id, whose accounts are open.
    """
    row = listable_type(call, parameters["QualificationTypeId"])
    rows = row.grants.filter(is_revoked=parameters.get("Status", "Granted") == "Revoked")
    if row.requester_id != call.requester.pk:
        rows = rows.filter(worker__is_active=True)
    found, token = page_of(rows.select_related("worker", "qualification_type"), parameters)
    return listing("Qualifications", found, token, describe_qualification)


def _granted(call: Call, parameters: dict[str, Any]) -> QualificationGrant:
    row = own_type(call, parameters["QualificationTypeId"])
    worker = known_worker(call, parameters["WorkerId"])
    found = row.grants.select_related("worker", "qualification_type").filter(worker=worker).first()
    if found is None:
        raise RequestError(
            # The service's own words: clients know by them that somebody has no score yet.
            "QualificationDoesNotExist",
            "You requested a Qualification that does not exist.",
        )
    if found.is_revoked:
        raise RequestError(
            "InvalidQualificationState", "This operation can be called with a status of: Granted"
        )
    return found
