"""Qualification types: created, read, listed, updated, deleted."""

from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q

from common.searching import holds
from marketplace.hits.lifecycle import settle_account
from marketplace.hits.questions.question_form import QuestionFormError, parse
from marketplace.models import HIT, QualificationRequest, QualificationType, RequestState
from marketplace.operations.descriptions import (
    describe_hit,
    describe_qualification_type,
    describe_system_type,
)
from marketplace.operations.hit_types import LONGEST_SECONDS, check_seconds
from marketplace.operations.ownership import own_type
from marketplace.people.qualifications.answer_key import AnswerKeyError, read_key
from marketplace.people.qualifications.requirements import WIRE_NAMES
from marketplace.router import DATABASE
from marketplace.wire.errors import (
    DoesNotExist,
    InvalidParameter,
    RequestError,
)
from marketplace.wire.fault_injection import faults_of
from marketplace.wire.pagination import listing, page_asked, page_of, token_after
from marketplace.wire.registry import Call, operation

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
        with transaction.atomic(using=DATABASE):
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
    with transaction.atomic(using=DATABASE):
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
