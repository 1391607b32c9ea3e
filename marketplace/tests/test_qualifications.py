"""Qualification types, grants and requests, from both sides."""

from typing import Any

from marketplace.people.requirements import WIRE_NAMES
from marketplace.tests.conftest import QUESTION
from marketplace.tests.forms import KEY, SUM, TEST, form
from marketplace.tests.refusals import refused
from marketplace.tests.visitor import Visitor

KIND = {"Description": "Read first.", "QualificationTypeStatus": "Active"}


def make(client: Any, name: str = "Writer", **changes: Any) -> str:
    made = client.create_qualification_type(Name=name, **KIND | changes)
    return made["QualificationType"]["QualificationTypeId"]


def test_a_type_is_made_read_changed_and_deleted(rita: Any, other_requester: Any) -> None:
    type_id = make(rita, Keywords="questions")
    with refused("QualificationTypeAlreadyExists", "with this name"):
        make(rita)
    assert make(other_requester)
    found = rita.get_qualification_type(QualificationTypeId=type_id)["QualificationType"]
    assert (found["Name"], found["IsRequestable"], found["AutoGranted"]) == ("Writer", True, False)
    changed = rita.update_qualification_type(
        QualificationTypeId=type_id, Description="New words.", QualificationTypeStatus="Inactive"
    )["QualificationType"]
    assert changed["QualificationTypeStatus"] == "Inactive"
    assert changed["Keywords"] == "questions"
    with refused("QualificationTypeDoesNotExist"):
        other_requester.update_qualification_type(QualificationTypeId=type_id, Description="x")
    rita.delete_qualification_type(QualificationTypeId=type_id)
    with refused("QualificationTypeDoesNotExist"):
        rita.get_qualification_type(QualificationTypeId=type_id)
    assert make(rita)


def test_types_are_searched(rita: Any, other_requester: Any) -> None:
    mine, theirs = make(rita, "Writer of questions"), make(other_requester, "Reader")
    search = {"MustBeRequestable": False, "MaxResults": 100}

    def ids(**more: Any) -> set[str]:
        found = rita.list_qualification_types(**search | more)["QualificationTypes"]
        return {one["QualificationTypeId"] for one in found}

    assert ids() == {mine, theirs} | set(WIRE_NAMES)
    assert ids(MustBeRequestable=True) == {mine, theirs}
    assert ids(MustBeOwnedByCaller=True) == {mine}
    assert ids(Query="question") == {mine}


def test_the_system_s_types_are_found_by_name_behind_the_others(rita: Any) -> None:
    mine = make(rita)
    pages = rita.get_paginator("list_qualification_types").paginate(
        MustBeRequestable=False, PaginationConfig={"PageSize": 3}
    )
    found = [one for page in pages for one in page["QualificationTypes"]]
    assert [one["QualificationTypeId"] for one in found] == [mine, *WIRE_NAMES]
    assert [one["Name"] for one in found[1:]] == list(WIRE_NAMES.values())
    listed = rita.list_qualification_types(Query="percent", MustBeRequestable=False)
    [one] = listed["QualificationTypes"]
    assert (
        one
        == rita.get_qualification_type(QualificationTypeId="000000000000000000L0")[
            "QualificationType"
        ]
    )
    assert (one["Name"], one["IsRequestable"]) == ("Worker_PercentAssignmentsApproved", False)


def test_an_inactive_one_is_neither_required_anew_nor_offered(
    rita: Any, other_requester: Any, make_hit: Any
) -> None:
    type_id = make(rita)
    asking = {
        "QualificationRequirements": [{"QualificationTypeId": type_id, "Comparator": "Exists"}]
    }
    kind = make_hit(rita, **asking)["HITTypeId"]
    rita.update_qualification_type(QualificationTypeId=type_id, QualificationTypeStatus="Inactive")
    with refused("InvalidParameterValue", "is Inactive"):
        make_hit(rita, **asking)
    with refused("InvalidParameterValue", "is Inactive"):
        rita.create_hit_with_hit_type(HITTypeId=kind, LifetimeInSeconds=60, Question=QUESTION)
    search = {"MustBeOwnedByCaller": True}
    assert rita.list_qualification_types(MustBeRequestable=True, **search)["NumResults"] == 0
    [mine] = rita.list_qualification_types(MustBeRequestable=False, **search)["QualificationTypes"]
    assert (mine["IsRequestable"], mine["QualificationTypeStatus"]) == (False, "Inactive")
    theirs = other_requester.list_qualification_types(Query="Writer", MustBeRequestable=False)
    assert theirs["NumResults"] == 0
    rita.update_qualification_type(QualificationTypeId=type_id, QualificationTypeStatus="Active")
    assert make_hit(rita, **asking)["HITTypeId"] == kind
    rita.delete_qualification_type(QualificationTypeId=type_id)
    with refused("InvalidParameterValue", "does not exist"):
        make_hit(rita, **asking)


def test_a_duration_without_a_test_is_taken(rita: Any) -> None:
    type_id = make(rita, TestDurationInSeconds=3600)
    found = rita.get_qualification_type(QualificationTypeId=type_id)["QualificationType"]
    assert found["TestDurationInSeconds"] == 3600
    assert "Test" not in found
    with refused("InvalidParameterValue", "needs a Test"):
        make(rita, "Other", AnswerKey=KEY)


def test_a_new_test_leaves_the_old_one_s_key_behind(rita: Any) -> None:
    type_id = make(rita, Test=TEST, AnswerKey=KEY, TestDurationInSeconds=60)
    changed = rita.update_qualification_type(
        QualificationTypeId=type_id, Test=form(SUM), TestDurationInSeconds=60
    )
    assert "AnswerKey" not in changed["QualificationType"]


def test_a_qualification_is_given_read_and_taken_away(rita: Any, ada: Visitor) -> None:
    type_id = make(rita)
    worker_id = ada.worker.worker_id
    both = {"QualificationTypeId": type_id, "WorkerId": worker_id}
    with refused("QualificationDoesNotExist", "You requested a Qualification that does not exist."):
        rita.get_qualification_score(**both)
    rita.associate_qualification_with_worker(**both, IntegerValue=70)
    rita.associate_qualification_with_worker(**both, IntegerValue=80, SendNotification=False)
    score = rita.get_qualification_score(**both)["Qualification"]
    assert (score["IntegerValue"], score["Status"]) == (80, "Granted")
    listed = rita.list_workers_with_qualification_type(QualificationTypeId=type_id)
    assert [one["WorkerId"] for one in listed["Qualifications"]] == [worker_id]
    assert ada.get("/messages/").content.decode().count("<h2>You now have the qualification") == 1

    rita.disassociate_qualification_from_worker(**both, Reason="Too many blanks.")
    assert "Too many blanks." in ada.get("/qualifications/").content.decode()
    with refused("InvalidQualificationState", "with a status of: Granted"):
        rita.get_qualification_score(**both)
    revoked = rita.list_workers_with_qualification_type(
        QualificationTypeId=type_id, Status="Revoked"
    )
    assert revoked["NumResults"] == 1


def test_only_the_owner_gives_it_and_only_by_an_id_that_can_be_one(
    rita: Any, other_requester: Any, ada: Visitor
) -> None:
    type_id = make(rita)
    with refused("QualificationTypeDoesNotExist"):
        other_requester.associate_qualification_with_worker(
            QualificationTypeId=type_id, WorkerId=ada.worker.worker_id
        )
    with refused("ParameterValidationError", "NOBODY"):
        rita.associate_qualification_with_worker(QualificationTypeId=type_id, WorkerId="NOBODY")


def test_a_worker_asks_and_is_answered(
    rita: Any, other_requester: Any, ada: Visitor, grace: Visitor
) -> None:
    type_id = make(rita)
    for visitor in (ada, grace):
        page = visitor.post("/qualifications/", f"/qualifications/{type_id}/ask/")
        assert "You asked for “Writer”" in page.content.decode()
    assert (
        "asked for “Writer” already" in ada.send(f"/qualifications/{type_id}/ask/").content.decode()
    )
    assert other_requester.list_qualification_requests()["QualificationRequests"] == []
    first, second = rita.list_qualification_requests(QualificationTypeId=type_id)[
        "QualificationRequests"
    ]
    assert first["WorkerId"] == ada.worker.worker_id
    rita.accept_qualification_request(
        QualificationRequestId=first["QualificationRequestId"], IntegerValue=90
    )
    rita.reject_qualification_request(
        QualificationRequestId=second["QualificationRequestId"], Reason="Practise first."
    )
    with refused("InvalidQualificationRequestState"):
        rita.accept_qualification_request(QualificationRequestId=first["QualificationRequestId"])
    with refused("QualificationRequestDoesNotExist"):
        other_requester.reject_qualification_request(
            QualificationRequestId=first["QualificationRequestId"]
        )
    assert "90" in ada.get("/qualifications/").content.decode()
    assert "Practise first." in grace.get("/qualifications/").content.decode()
    again = grace.send(f"/qualifications/{type_id}/ask/")
    assert "once only" in again.content.decode()


def test_a_declined_worker_asks_again_after_the_delay(rita: Any, ada: Visitor, later: Any) -> None:
    type_id = make(rita, RetryDelayInSeconds=3600)
    ask = f"/qualifications/{type_id}/ask/"
    ada.post("/qualifications/", ask)
    [request] = rita.list_qualification_requests()["QualificationRequests"]
    rita.reject_qualification_request(QualificationRequestId=request["QualificationRequestId"])
    assert "again in" in ada.send(ask).content.decode()
    later(minutes=61)
    assert "You asked for" in ada.send(ask).content.decode()


def test_an_automatic_one_is_had_at_once(rita: Any, ada: Visitor) -> None:
    type_id = make(rita, AutoGranted=True, AutoGrantedValue=7)
    page = ada.post("/qualifications/", f"/qualifications/{type_id}/ask/")
    assert "You now have “Writer”" in page.content.decode()
    both = {"QualificationTypeId": type_id, "WorkerId": ada.worker.worker_id}
    assert rita.get_qualification_score(**both)["Qualification"]["IntegerValue"] == 7


def test_what_the_requester_took_away_is_not_had_by_asking(
    rita: Any, ada: Visitor, later: Any
) -> None:
    type_id = make(rita, AutoGranted=True, RetryDelayInSeconds=3600)
    both = {"QualificationTypeId": type_id, "WorkerId": ada.worker.worker_id}
    ask = f"/qualifications/{type_id}/ask/"
    ada.post("/qualifications/", ask)
    rita.disassociate_qualification_from_worker(**both, Reason="Copied answers.")
    assert "again in" in ada.post("/qualifications/", ask).content.decode()
    later(minutes=61)
    page = ada.post("/qualifications/", ask).content.decode()
    assert "You asked for “Writer”" in page
    assert "Copied answers." in page
    with refused("InvalidQualificationState"):
        rita.get_qualification_score(**both)
    [request] = rita.list_qualification_requests()["QualificationRequests"]
    rita.accept_qualification_request(QualificationRequestId=request["QualificationRequestId"])
    assert rita.get_qualification_score(**both)["Qualification"]["Status"] == "Granted"


def test_without_a_delay_it_is_asked_for_once_whatever_became_of_it(
    rita: Any, ada: Visitor
) -> None:
    type_id = make(rita, AutoGranted=True)
    ask = f"/qualifications/{type_id}/ask/"
    ada.post("/qualifications/", ask)
    rita.disassociate_qualification_from_worker(
        QualificationTypeId=type_id, WorkerId=ada.worker.worker_id
    )
    assert "once only" in ada.post("/qualifications/", ask).content.decode()
    assert rita.list_qualification_requests()["QualificationRequests"] == []


def test_hits_that_ask_for_it_are_listed(rita: Any, make_hit: Any) -> None:
    type_id = make(rita)
    asks = make_hit(
        rita,
        QualificationRequirements=[{"QualificationTypeId": type_id, "Comparator": "Exists"}],
    )
    make_hit(rita)
    listed = rita.list_hits_for_qualification_type(QualificationTypeId=type_id)["HITs"]
    assert [hit["HITId"] for hit in listed] == [asks["HITId"]]
