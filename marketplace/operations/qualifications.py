"""Qualification types, qualifications of workers, and requests for them."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import IntegrityError
from django.db.models import Q, QuerySet

from common.searching import holds
from marketplace.fault_injection import faults_of
from marketplace.hits.access import is_earned_by_work
from marketplace.hits.lifecycle import settle_account
from marketplace.models import (
    HIT,
    QualificationGrant,
    QualificationRequest,
    QualificationType,
    Requester,
    RequestState,
)
from marketplace.notifications.messages import (
    description_of,
    notify_of_qualification,
    own_message,
    reason_of,
)
from marketplace.operations.hits import LONGEST_SECONDS, check_seconds, describe_hit
from marketplace.operations.ownership import expected_worker, known_worker, listable_type, own_type
from marketplace.people.grants import AnswerKeyError, add_members, grant, locked_request, read_key
from marketplace.people.requirements import SYSTEM_NAMES, WIRE_NAMES
from marketplace.questions.question_form import QuestionFormError, parse
from marketplace.router import atomic
from marketplace.wire.calls import (
    Call,
    DoesNotExist,
    InvalidParameter,
    RequestError,
    listing,
    operation,
    page_asked,
    page_of,
    token_after,
)

# The model is of that day, and the system's own types come with it.
MODEL_OF = datetime(2017, 1, 17, tzinfo=UTC)
# The keys of the system's types in tokens, greater than any row's.
BEHIND_ALL = 2**62
TEXT_LIMITS = {"Name": 200, "Description": 2000, "Keywords": 1000}
# What an update writes as it is given, and its columns; and what goes together in them.
CHANGEABLE = {
    "Description": "description",
    "RetryDelayInSeconds": "retry_delay_seconds",
    "Test": "test",
    "AnswerKey": "answer_key",
    "TestDurationInSeconds": "test_duration_seconds",
    "AutoGranted": "is_auto_granted",
    "AutoGrantedValue": "auto_granted_value",
}
TESTED = ("Test", "AnswerKey", "TestDurationInSeconds", "AutoGranted")


@operation("CreateQualificationType")
def create_qualification_type(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return a new qualification type; its name is unique among the caller's."""
    _check(parameters)
    check_test(parameters)
    try:
        with atomic():
            row = QualificationType.objects.create(
                requester=call.requester,
                name=parameters["Name"],
                description=parameters["Description"],
                keywords=parameters.get("Keywords", ""),
                is_active=parameters["QualificationTypeStatus"] == "Active",
                retry_delay_seconds=parameters.get("RetryDelayInSeconds"),
                test=parameters.get("Test", ""),
                answer_key=parameters.get("AnswerKey", ""),
                test_duration_seconds=parameters.get("TestDurationInSeconds"),
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
    if type_id in WIRE_NAMES:
        return {"QualificationType": describe_system_type(type_id)}
    row = QualificationType.objects.filter(qualification_type_id=type_id, deleted_at=None).first()
    if row is None:
        raise DoesNotExist("QualificationType", "QualificationType", type_id)
    is_owner = row.requester_id == call.requester.pk
    return {"QualificationType": describe_qualification_type(row, is_owner)}


@operation("ListQualificationTypes")
def list_qualification_types(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return a page of the requesters' types that match, then of the system's own.

    Those that workers cannot ask for are left out when asked; of others' the host's groups alone
    are told. With an injected index lag a new type is not found at once.
    """
    lag = timedelta(seconds=faults_of(call.requester).index_lag_seconds)
    rows = QualificationType.objects.filter(deleted_at=None)
    if lag:
        rows = rows.filter(created_at__lte=call.now - lag)
    if parameters.get("MustBeOwnedByCaller"):
        rows = rows.filter(requester=call.requester)
    active = Q(is_active=True)
    rows = rows.filter(
        active
        if parameters["MustBeRequestable"]
        else active | Q(requester=call.requester) | Q(group__isnull=False)
    )
    words = parameters.get("Query", "").split()
    for word in words:
        rows = rows.filter(
            holds("name", word) | holds("keywords", word) | holds("description", word)
        )
    found, token = page_of(rows, parameters)
    described = [
        describe_qualification_type(row, row.requester_id == call.requester.pk) for row in found
    ]
    if not (parameters["MustBeRequestable"] or parameters.get("MustBeOwnedByCaller")):
        kept, token_of_kept = _system_types(words, parameters, len(found))
        described, token = described + kept, token_of_kept or token
    return listing("QualificationTypes", described, token, dict)


def _system_types(
    words: list[str], parameters: dict[str, Any], n_before: int
) -> tuple[list[dict[str, Any]], str | None]:
    """Return the system's types that fit on a page behind `n_before` others, and its token."""
    size, last = page_asked(parameters, int)
    matching = [
        (key, one)
        for key, one in enumerate(map(describe_system_type, WIRE_NAMES), start=BEHIND_ALL)
        if all(word.lower() in f"{one['Name']} {one['Description']}".lower() for word in words)
        and (last is None or key > last[1])
    ][: size - n_before]
    token = token_after(matching[-1][0], matching[-1][0]) if matching else None
    return [one for _, one in matching], token


@operation("UpdateQualificationType")
def update_qualification_type(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Change what is given of the caller's type and return all of it."""
    _check(parameters)
    row = own_type(call, parameters["QualificationTypeId"])
    changed = {CHANGEABLE[name]: parameters[name] for name in CHANGEABLE if name in parameters}
    if "Test" in parameters:
        # A new test comes with its own key or with none: the old one scores other questions.
        changed.setdefault("answer_key", "")
    if "Description" in parameters:
        changed["description_message"] = None
    if "QualificationTypeStatus" in parameters:
        changed["is_active"] = parameters["QualificationTypeStatus"] == "Active"
    for column, value in changed.items():
        setattr(row, column, value)
    tested = {name: getattr(row, CHANGEABLE[name]) for name in TESTED}
    check_test({name: value for name, value in tested.items() if value})
    # The rest of the row may have been changed since it was read, or deleted.
    row.save(update_fields=list(changed))
    return {"QualificationType": describe_qualification_type(row)}


@operation("DeleteQualificationType")
def delete_qualification_type(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Delete the caller's type and decline pending requests; qualifications already given stay."""
    row = own_type(call, parameters["QualificationTypeId"])
    with atomic():
        row.deleted_at = call.now
        row.save(update_fields=["deleted_at"])
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
    for name, longest in TEXT_LIMITS.items():
        if len(parameters.get(name, "")) > longest:
            raise InvalidParameter(f"{name} is longer than {longest} characters.")
        if name in parameters and name != "Keywords" and not parameters[name].strip():
            raise InvalidParameter(f"{name} may not be empty.")
    if not 0 <= parameters.get("RetryDelayInSeconds", 0) <= LONGEST_SECONDS:
        raise InvalidParameter(f"RetryDelayInSeconds has to be from 0 to {LONGEST_SECONDS}.")


def check_test(parameters: dict[str, Any]) -> None:
    """Raise a refusal unless test, key and AutoGranted go together and can be read."""
    if "Test" not in parameters:
        if "AnswerKey" in parameters:
            raise InvalidParameter("An AnswerKey needs a Test.")
        # A duration alone says nothing, but published programs send it along.
        check_seconds("TestDurationInSeconds", parameters, 1, LONGEST_SECONDS)
        return
    if parameters.get("AutoGranted"):
        raise InvalidParameter("A type with a Test cannot be AutoGranted.")
    if "TestDurationInSeconds" not in parameters:
        raise InvalidParameter("Give TestDurationInSeconds for the Test.")
    check_seconds("TestDurationInSeconds", parameters, 1, LONGEST_SECONDS)
    try:
        form = parse(parameters["Test"])
        key = read_key(parameters["AnswerKey"]) if "AnswerKey" in parameters else None
    except (QuestionFormError, AnswerKeyError) as error:
        raise RequestError("XMLParseError", str(error)) from None
    known = {question.identifier for question in form.questions}
    if key is not None and (unknown := set(key.questions) - known):
        raise InvalidParameter(f"AnswerKey scores {min(unknown)}, which the Test does not ask.")


@operation("AssociateQualificationWithWorker")
def associate_qualification(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Give a worker a qualification, or change its value, and tell them unless asked not to.

    A call that is sent again after a lost reply changes nothing, and is not told of again.
    """
    row = own_type(call, parameters["QualificationTypeId"])
    worker, value = expected_worker(call, parameters["WorkerId"]), parameters.get("IntegerValue", 1)
    with atomic():
        if parameters.get("SendNotification", True):
            add_members(row, [worker], call.now, value)
        else:
            grant(row, worker, value, call.now)
    return {}


@operation("DisassociateQualificationFromWorker")
def disassociate_qualification(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Take a qualification away and tell the worker why.

    Of one that is earned by work, a value of 0 means that the worker did not pass.
    """
    found, words = _granted(call, parameters), parameters.get("Reason", "")
    row = found.qualification_type
    is_failed = is_earned_by_work(row) and found.integer_value == 0
    key = "test_not_passed" if is_failed else "qualification_withdrawn"
    with atomic():
        held = QualificationGrant.objects.filter(pk=found.pk, is_revoked=False)
        # Of two that take it away at once, one does.
        if held.update(is_revoked=True, **own_message("reason", words)):
            notify_of_qualification(row, found.worker, key, reason_of(words), call.now)
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
        notify_of_qualification(given, row.worker, "qualification_given", what, call.now)
    return {}


@operation("RejectQualificationRequest")
def reject_qualification_request(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Decline a request and tell the worker why."""
    with _pending(call, parameters["QualificationRequestId"]) as row:
        row.state, row.decided_at = RequestState.REJECTED, call.now
        row.reason = parameters.get("Reason", "")
        row.save()
        why = reason_of(row.reason)
        notify_of_qualification(
            row.qualification_type, row.worker, "request_declined", why, call.now
        )
    return {}


@contextmanager
def _pending(call: Call, request_id: str) -> Iterator[QualificationRequest]:
    with atomic():
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


def describe_qualification_type(row: QualificationType, is_owner: bool = True) -> dict[str, Any]:
    """Return the model's QualificationType; nobody but its owner is told the answer key."""
    return {
        "QualificationTypeId": row.qualification_type_id,
        "CreationTime": row.created_at,
        "Name": row.name,
        "Description": row.description,
        "Keywords": row.keywords or None,
        "QualificationTypeStatus": "Active" if row.is_active else "Inactive",
        "Test": row.test or None,
        "TestDurationInSeconds": row.test_duration_seconds,
        "AnswerKey": (row.answer_key or None) if is_owner else None,
        "RetryDelayInSeconds": row.retry_delay_seconds,
        "IsRequestable": row.is_active,
        "AutoGranted": row.is_auto_granted,
        "AutoGrantedValue": row.auto_granted_value if row.is_auto_granted else None,
    }


def describe_system_type(type_id: str) -> dict[str, Any]:
    """Return the model's QualificationType of one that the marketplace itself keeps."""
    return {
        "QualificationTypeId": type_id,
        "CreationTime": MODEL_OF,
        "Name": WIRE_NAMES[type_id],
        "Description": f"Kept by the marketplace: {SYSTEM_NAMES[type_id]}.",
        "QualificationTypeStatus": "Active",
        "IsRequestable": False,
        "AutoGranted": False,
    }


def describe_qualification(grant: QualificationGrant) -> dict[str, Any]:
    """Return the model's Qualification; expects worker and type loaded."""
    return {
        "QualificationTypeId": grant.qualification_type.qualification_type_id,
        "WorkerId": grant.worker.worker_id,
        "GrantTime": grant.granted_at,
        "IntegerValue": grant.integer_value,
        "Status": "Revoked" if grant.is_revoked else "Granted",
    }
