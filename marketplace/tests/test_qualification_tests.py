"""Qualification tests through the API and by a worker."""

from typing import Any

import pytest

from marketplace import clock
from marketplace.models import QualificationRequest, QualificationType, RequestState
from marketplace.people.grants import NotTakenError, begin, hand_in
from marketplace.tests.forms import KEY, TEST
from marketplace.tests.refusals import refused
from marketplace.tests.test_qualifications import make
from marketplace.tests.visitor import Visitor

GOOD = {"sum": ["four"], "both": ["a", "b"]}
WITH_TEST = {"Test": TEST, "TestDurationInSeconds": 600}


def kind(client: Any, **changes: Any) -> QualificationType:
    values = {**WITH_TEST, "AnswerKey": KEY} | changes
    given = {name: value for name, value in values.items() if value is not None}
    type_id = make(client, **given)
    return QualificationType.objects.get(qualification_type_id=type_id)


def test_a_test_with_a_key_is_scored_at_once(rita: Any, other_requester: Any, ada: Visitor) -> None:
    row = kind(rita)
    one = {"QualificationTypeId": row.qualification_type_id}
    told = rita.get_qualification_type(**one)["QualificationType"]
    assert (told["Test"], told["AnswerKey"], told["TestDurationInSeconds"]) == (TEST, KEY, 600)
    assert "AnswerKey" not in other_requester.get_qualification_type(**one)["QualificationType"]

    begun = begin(ada.worker, row, clock.now())
    assert begin(ada.worker, row, clock.now()) == begun
    assert hand_in(begun, {}, clock.now()).problems == ("Sum: answer it.", "Both: answer it.")
    assert hand_in(begun, GOOD, clock.now()).value == 100
    with pytest.raises(NotTakenError):
        hand_in(begun, GOOD, clock.now())
    score = rita.get_qualification_score(**one, WorkerId=ada.worker.worker_id)
    assert score["Qualification"]["IntegerValue"] == 100
    with pytest.raises(NotTakenError, match="once only"):
        begin(ada.worker, row, clock.now())


def test_a_test_without_a_key_waits_for_the_requester(rita: Any, ada: Visitor) -> None:
    row = kind(rita, AnswerKey=None)
    begun = begin(ada.worker, row, clock.now())
    assert rita.list_qualification_requests()["QualificationRequests"] == []
    assert hand_in(begun, GOOD, clock.now()).value is None
    [request] = rita.list_qualification_requests()["QualificationRequests"]
    assert request["Test"] == TEST
    assert "<SelectionIdentifier>four</SelectionIdentifier>" in request["Answer"]
    with pytest.raises(NotTakenError, match="not decided"):
        begin(ada.worker, row, clock.now())
    rita.accept_qualification_request(
        QualificationRequestId=request["QualificationRequestId"], IntegerValue=60
    )


def test_the_time_of_a_test_runs_out(rita: Any, ada: Visitor, later: Any) -> None:
    row = kind(rita, RetryDelayInSeconds=3600)
    begun = begin(ada.worker, row, clock.now())
    later(seconds=700)
    with pytest.raises(NotTakenError, match="time was up"):
        hand_in(begun, GOOD, clock.now())
    assert QualificationRequest.objects.get().state == RequestState.REJECTED
    with pytest.raises(NotTakenError, match="again in 48 min"):
        begin(ada.worker, row, clock.now())
    later(hours=1)
    assert begin(ada.worker, row, clock.now()) != begun


def test_what_does_not_go_together_is_refused(rita: Any) -> None:
    for changes, code in (
        ({"TestDurationInSeconds": None}, "InvalidParameterValue"),
        ({"AutoGranted": True}, "InvalidParameterValue"),
        ({"Test": None}, "InvalidParameterValue"),
        ({"Test": "<QuestionForm/>"}, "XMLParseError"),
        ({"AnswerKey": "<AnswerKey/>"}, "XMLParseError"),
        ({"AnswerKey": KEY.replace(">sum<", ">som<")}, "InvalidParameterValue"),
    ):
        values = {**WITH_TEST, "AnswerKey": KEY} | changes
        with refused(code):
            make(rita, **{name: value for name, value in values.items() if value is not None})


def test_a_test_is_added_later(rita: Any, ada: Visitor) -> None:
    type_id = make(rita)
    with refused("InvalidParameterValue", "TestDurationInSeconds"):
        rita.update_qualification_type(QualificationTypeId=type_id, Test=TEST)
    rita.update_qualification_type(QualificationTypeId=type_id, **WITH_TEST)
    row = QualificationType.objects.get(qualification_type_id=type_id)
    assert begin(ada.worker, row, clock.now()).test == TEST
