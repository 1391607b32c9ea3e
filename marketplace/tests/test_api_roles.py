"""Every operation for every role: the owner, another requester, a stranger, a replay."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from botocore.exceptions import ClientError
from django.db import transaction

from marketplace import clock
from marketplace.models import BonusPayment, SeenRequest
from marketplace.people.accounts import RequesterKeys
from marketplace.tests.boto import ENDPOINT, mturk_client
from marketplace.tests.test_signature import send, signed_headers
from marketplace.tests.visitor import Visitor
from marketplace.wire.shapes import service_model

EXTERNAL = "OperationNotSupported"
OPEN = ""
# operation -> what another requester is told who names the owner's things ("" = only their own)
TABLE = {
    "AcceptQualificationRequest": "QualificationRequestDoesNotExist",
    "ApproveAssignment": "AssignmentDoesNotExist",
    "AssociateQualificationWithWorker": "QualificationTypeDoesNotExist",
    "CreateAdditionalAssignmentsForHIT": "HITDoesNotExist",
    "CreateHIT": OPEN,
    "CreateHITType": OPEN,
    "CreateHITWithHITType": "HITTypeDoesNotExist",
    "CreateQualificationType": OPEN,
    "CreateWorkerBlock": OPEN,
    "DeleteHIT": "HITDoesNotExist",
    "DeleteQualificationType": "QualificationTypeDoesNotExist",
    "DeleteWorkerBlock": OPEN,
    "DisassociateQualificationFromWorker": "QualificationTypeDoesNotExist",
    "GetAccountBalance": OPEN,
    "GetAssignment": "AssignmentDoesNotExist",
    "GetFileUploadURL": EXTERNAL,
    "GetHIT": "HITDoesNotExist",
    "GetQualificationScore": "QualificationTypeDoesNotExist",
    "GetQualificationType": OPEN,
    "ListAssignmentsForHIT": "HITDoesNotExist",
    "ListBonusPayments": "HITDoesNotExist",
    "ListHITs": OPEN,
    "ListHITsForQualificationType": OPEN,
    "ListQualificationRequests": "QualificationTypeDoesNotExist",
    "ListQualificationTypes": OPEN,
    "ListReviewPolicyResultsForHIT": "HITDoesNotExist",
    "ListReviewableHITs": OPEN,
    "ListWorkerBlocks": OPEN,
    "ListWorkersWithQualificationType": "QualificationTypeDoesNotExist",
    "NotifyWorkers": OPEN,
    "RejectAssignment": "AssignmentDoesNotExist",
    "RejectQualificationRequest": "QualificationRequestDoesNotExist",
    "SendBonus": "AssignmentDoesNotExist",
    "SendTestEventNotification": OPEN,
    "UpdateExpirationForHIT": "HITDoesNotExist",
    "UpdateHITReviewStatus": "HITDoesNotExist",
    "UpdateHITTypeOfHIT": "HITTypeDoesNotExist",
    "UpdateNotificationSettings": "HITTypeDoesNotExist",
    "UpdateQualificationType": "QualificationTypeDoesNotExist",
}
# What lists and searches may hold for somebody who owns nothing.
ROWS = ("HITs", "QualificationRequests", "WorkerBlocks", "Assignments", "BonusPayments")


@pytest.fixture
def things(rita: Any, ada: Visitor, grace: Visitor, make_hit: Any) -> dict[str, Any]:
    """Rita's things, by the names that operations know them under, and other fit values."""
    hit = make_hit(rita)
    ada.submit(hit)
    [assignment] = rita.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    made = rita.create_qualification_type(
        Name="W", Description="d", QualificationTypeStatus="Active"
    )
    type_id = made["QualificationType"]["QualificationTypeId"]
    grace.post("/qualifications/", f"/qualifications/{type_id}/ask/")
    [request] = rita.list_qualification_requests()["QualificationRequests"]
    rita.create_worker_block(WorkerId=grace.worker.worker_id, Reason="r")
    return {
        "HITId": hit["HITId"],
        "HITTypeId": hit["HITTypeId"],
        "AssignmentId": assignment["AssignmentId"],
        "WorkerId": assignment["WorkerId"],
        "QualificationTypeId": type_id,
        "QualificationRequestId": request["QualificationRequestId"],
        "NumberOfAdditionalAssignments": 1,
        "ExpireAt": clock.now(),
        "LifetimeInSeconds": 3600,
        "AssignmentDurationInSeconds": 600,
        "Question": hit["Question"],
        "Reward": "0.10",
        "BonusAmount": "0.10",
        "Title": "t",
        "Description": "d",
        "Name": "mine",
        "QualificationTypeStatus": "Active",
        "MustBeRequestable": True,
        "RequesterFeedback": "No.",
        "Reason": "r",
        "Subject": "s",
        "MessageText": "m",
        "WorkerIds": [assignment["WorkerId"]],
        "QuestionIdentifier": "q",
        "TestEventType": "Ping",
        "Notification": {
            "Destination": "https://listener.example/",
            "Transport": "SQS",
            "Version": "2014-08-15",
            "EventTypes": ["Ping"],
        },
    }


def parameters_of(name: str, things: dict[str, Any]) -> dict[str, Any]:
    shape = service_model().operation_model(name).input_shape
    wanted = [*shape.required_members, "HITId", "QualificationTypeId", "Question"]
    return {member: things[member] for member in wanted if member in shape.members}


def test_the_table_has_every_operation() -> None:
    assert set(TABLE) == set(service_model().operation_names)


@contextmanager
def undone() -> Iterator[None]:
    """Let what happens here be as if it had not been."""
    with transaction.atomic("marketplace"):
        yield
        transaction.set_rollback(True, "marketplace")


def told(client: Any, name: str, things: dict[str, Any]) -> str:
    """Return the code of the refusal, or OPEN for a reply; nothing of Rita's may be in that."""
    try:
        with undone():
            reply = client._make_api_call(name, parameters_of(name, things))
    except ClientError as error:
        code = error.response.get("TurkErrorCode") or error.response["Error"]["Code"]
        return str(code).removeprefix("AWS.MechanicalTurk.")
    assert not any(reply.get(rows) for rows in ROWS), name
    assert reply.get("NotifyWorkersFailureStatuses", [{}]) != [], name
    return OPEN


def test_nobody_gets_at_another_requester_s_things(
    other_requester: Any, things: dict[str, Any]
) -> None:
    assert {name: told(other_requester, name, things) for name in TABLE} == TABLE


def test_a_stranger_gets_nothing(things: dict[str, Any]) -> None:
    stranger = mturk_client(RequesterKeys(ENDPOINT, "AKIASTRANGER", "secret", "", ""))
    assert {told(stranger, name, things) for name in TABLE} == {"UnrecognizedClientException"}


def test_a_change_that_was_overheard_is_not_made_again(
    rita: Any, rita_keys: RequesterKeys, things: dict[str, Any]
) -> None:
    heard: list[Any] = []
    rita.meta.events.register_first(
        "before-send.mturk.SendBonus", lambda request, **_: heard.append(request)
    )
    rita.send_bonus(
        **{name: things[name] for name in ("WorkerId", "BonusAmount", "AssignmentId", "Reason")}
    )
    [request] = heard
    headers = {
        name: value.decode() if isinstance(value, bytes) else value
        for name, value in request.headers.items()
    }
    assert send(headers, request.body) == (400, "InvalidSignatureException")
    assert BonusPayment.objects.count() == 1
    assert SeenRequest.objects.exists()


def test_reading_twice_is_no_harm(rita_keys: RequesterKeys) -> None:
    headers = signed_headers(rita_keys, b"{}", **{"amz-sdk-invocation-id": "one"})
    assert send(dict(headers)) == (200, "")
    assert send(dict(headers)) == (200, "")
