"""Qualifications given to workers, taken away and read."""

from typing import Any

from django.db import transaction

from marketplace.models import Message, QualificationGrant
from marketplace.notifications.system_messages import own_message, system_message
from marketplace.operations.descriptions import describe_qualification
from marketplace.operations.ownership import known_worker, listable_type, own_type
from marketplace.people.qualifications.grants import grant
from marketplace.router import DATABASE
from marketplace.wire.errors import RequestError
from marketplace.wire.pagination import listing, page_of
from marketplace.wire.registry import Call, operation

# What its message keeps of a name, so that the whole subject fits.
LONGEST_NAME = 160


@operation("AssociateQualificationWithWorker")
def associate_qualification(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Give a worker a qualification, or change its value, and tell them unless asked not to."""
    row = own_type(call, parameters["QualificationTypeId"])
    worker = known_worker(parameters["WorkerId"])
    with transaction.atomic(using=DATABASE):
        grant(row, worker, parameters.get("IntegerValue", 1), call.now)
        if parameters.get("SendNotification", True):
            Message.objects.create(
                worker=worker,
                requester=call.requester,
                qualification_type=row,
                text=row.description,
                text_message=row.description_message,
                sent_at=call.now,
                **system_message("subject", "qualification_given", name=row.name[:LONGEST_NAME]),
            )
    return {}


@operation("DisassociateQualificationFromWorker")
def disassociate_qualification(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Take a qualification away; the worker can read the reason."""
    found = _granted(call, parameters)
    reason = own_message("reason", parameters.get("Reason", ""))
    QualificationGrant.objects.filter(pk=found.pk).update(is_revoked=True, **reason)
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
    worker = known_worker(parameters["WorkerId"])
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
