"""Qualification types: made, read, searched, changed, deleted."""

from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q

from marketplace.lifecycle import settle_account
from marketplace.models import HIT, QualificationRequest, QualificationType, RequestState
from marketplace.operations.descriptions import describe_hit, describe_qualification_type
from marketplace.operations.ownership import own_type
from marketplace.requirements import SYSTEM_NAMES
from marketplace.router import DATABASE
from marketplace.wire.errors import (
    DoesNotExist,
    InvalidParameter,
    NotSupported,
    RequestError,
)
from marketplace.wire.registry import Call, operation
from marketplace.wire.results import listing, page_of

TEST_MEMBERS = ("Test", "AnswerKey", "TestDurationInSeconds")
TEXT_LIMITS = {"Name": 200, "Description": 2000, "Keywords": 1000}


@operation("CreateQualificationType")
def create_qualification_type(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return a new qualification type; its name is unique among the caller's."""
    _check(parameters)
    try:
        with transaction.atomic(using=DATABASE):
            row = QualificationType.objects.create(
                requester=call.requester,
                name=parameters["Name"],
                description=parameters["Description"],
                keywords=parameters.get("Keywords", ""),
                is_active=parameters["QualificationTypeStatus"] == "Active",
                retry_delay_seconds=parameters.get("RetryDelayInSeconds"),
                is_auto_granted=parameters.get("AutoGranted", False),
                auto_granted_value=parameters.get("AutoGrantedValue", 1),
                created_at=call.now,
            )
    except IntegrityError:
        raise RequestError(
            "QualificationTypeAlreadyExists",
            "You have already created a QualificationType with this name.",
        ) from None
    return {"QualificationType": describe_qualification_type(row)}


@operation("GetQualificationType")
def get_qualification_type(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return any qualification type, the system's own included."""
    type_id = parameters["QualificationTypeId"]
    if type_id in SYSTEM_NAMES:
        return {"QualificationType": _describe_system_type(type_id)}
    row = QualificationType.objects.filter(qualification_type_id=type_id, deleted_at=None).first()
    if row is None:
        raise DoesNotExist("QualificationType", "QualificationType", type_id)
    return {"QualificationType": describe_qualification_type(row)}


def _describe_system_type(type_id: str) -> dict[str, Any]:
    name = SYSTEM_NAMES[type_id]
    return {
        "QualificationTypeId": type_id,
        "Name": name,
        "Description": f"Kept by the marketplace: {name}.",
        "QualificationTypeStatus": "Active",
        "IsRequestable": False,
    }


@operation("ListQualificationTypes")
def list_qualification_types(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return a page of the requesters' types that match; all of those can be asked for."""
    rows = QualificationType.objects.filter(deleted_at=None)
    if parameters.get("MustBeOwnedByCaller"):
        rows = rows.filter(requester=call.requester)
    else:
        rows = rows.filter(Q(requester=call.requester) | Q(is_active=True))
    for word in parameters.get("Query", "").split():
        rows = rows.filter(
            Q(name__icontains=word) | Q(keywords__icontains=word) | Q(description__icontains=word)
        )
    found, token = page_of(rows, parameters)
    return listing("QualificationTypes", found, token, describe_qualification_type)


@operation("UpdateQualificationType")
def update_qualification_type(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Change what is given of the caller's type and return all of it."""
    _check(parameters)
    row = own_type(call, parameters["QualificationTypeId"])
    row.description = parameters.get("Description", row.description)
    if "QualificationTypeStatus" in parameters:
        row.is_active = parameters["QualificationTypeStatus"] == "Active"
    row.retry_delay_seconds = parameters.get("RetryDelayInSeconds", row.retry_delay_seconds)
    row.is_auto_granted = parameters.get("AutoGranted", row.is_auto_granted)
    row.auto_granted_value = parameters.get("AutoGrantedValue", row.auto_granted_value)
    row.save()
    return {"QualificationType": describe_qualification_type(row)}


@operation("DeleteQualificationType")
def delete_qualification_type(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Delete the caller's type and decline pending requests; qualifications already given stay."""
    row = own_type(call, parameters["QualificationTypeId"])
    with transaction.atomic(using=DATABASE):
        row.deleted_at = call.now
        row.save()
        QualificationRequest.objects.filter(
            qualification_type=row, state=RequestState.PENDING
        ).update(state=RequestState.REJECTED, decided_at=call.now)
    return {}


@operation("ListHITsForQualificationType")
def list_hits_for_qualification_type(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return a page of the caller's HITs that require this qualification, newest first."""
    type_id = parameters["QualificationTypeId"]
    settle_account(call.requester, call.now)
    kinds = [
        kind.pk
        for kind in call.requester.hit_types.all()
        if any(need["QualificationTypeId"] == type_id for need in kind.requirements)
    ]
    rows = HIT.objects.filter(hit_type__in=kinds, disposed_at=None).select_related("hit_type")
    found, token = page_of(rows, parameters, newest_first=True)
    return listing("HITs", found, token, lambda hit: describe_hit(hit, call.now))


def _check(parameters: dict[str, Any]) -> None:
    for name in TEST_MEMBERS:
        if name in parameters:
            raise NotSupported(
                f"This marketplace gives no qualification tests yet; leave {name} out and grant "
                "the qualification yourself."
            )
    for name, longest in TEXT_LIMITS.items():
        if len(parameters.get(name, "")) > longest:
            raise InvalidParameter(f"{name} is longer than {longest} characters.")
        if name in parameters and name != "Keywords" and not parameters[name].strip():
            raise InvalidParameter(f"{name} may not be empty.")
    if parameters.get("RetryDelayInSeconds", 0) < 0:
        raise InvalidParameter("RetryDelayInSeconds may not be negative.")
