"""The forms with which published tools end a task, as their pages send them: all are paid work."""

from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import pytest
from django.http import HttpResponse
from django.test import Client

from marketplace.models import Assignment, AssignmentState
from marketplace.people.accounts import merge
from marketplace.tests.boto import HOST
from marketplace.tests.visitor import Frame, Visitor

# Where pages post that know the service's path and not `turkSubmitTo`.
FIXED = "/mturk/externalSubmit"


def posted(path: str, query: str = "", **fields: str) -> HttpResponse:
    """Post as a task's page does, from another site and without a cookie."""
    browser = Client(enforce_csrf_checks=True, headers={"Host": HOST})
    return browser.post(f"{path}?{query}" if query else path, fields)


def submit_path(frame: Frame) -> str:
    return urlsplit(frame.query["turkSubmitTo"]).path + FIXED


def handed_in(rita: Any, hit: dict[str, Any]) -> list[dict[str, str]]:
    """Return the fields of each answer to a HIT, as a requester's script reads them."""
    rows = rita.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    return [
        {
            one.findtext("{*}QuestionIdentifier", ""): one.findtext("{*}FreeText", "")
            for one in ElementTree.fromstring(row["Answer"])
        }
        for row in rows
    ]


@pytest.fixture
def hit(rita: Any, make_hit: Any) -> dict[str, Any]:
    """A HIT of Rita's."""
    made: dict[str, Any] = make_hit(rita)
    return made


def test_jspsych_names_the_assignment_in_the_address(
    rita: Any, ada: Visitor, hit: dict[str, Any]
) -> None:
    """jsPsych 7 and 8, `submitToTurk`: …/externalSubmit?assignmentId=…, the data in the body."""
    frame = ada.accept(hit)
    query = f"assignmentId={frame.query['assignmentId']}"
    assert posted(submit_path(frame), query, rt="512", key="f").status_code == 200
    assert handed_in(rita, hit) == [{"rt": "512", "key": "f"}]


def test_older_jspsych_leads_the_frame_there(rita: Any, ada: Visitor, hit: dict[str, Any]) -> None:
    """jsPsych 4 to 6 write all of it into an address and open that."""
    frame = ada.accept(hit)
    browser = Client(headers={"Host": HOST})
    address = f"{submit_path(frame)}?rt=512&assignmentId={frame.query['assignmentId']}"
    assert browser.get(address).status_code == 200
    assert handed_in(rita, hit) == [{"rt": "512"}]
    assert browser.head(address).status_code == 405


def test_what_older_jspsych_escapes_keeps_its_letters(
    rita: Any, ada: Visitor, hit: dict[str, Any]
) -> None:
    """`escape()` of ü, 中, an emoji, a plus and a per cent sign."""
    frame = ada.accept(hit)
    browser = Client(headers={"Host": HOST})
    escaped = "%FC%20%u4E2D%20%uD83D%uDE00%201+1%20%25"
    address = f"{submit_path(frame)}?word={escaped}&assignmentId={frame.query['assignmentId']}"
    assert browser.get(address).status_code == 200
    assert handed_in(rita, hit) == [{"word": "ü 中 😀 1+1 %"}]


@pytest.mark.parametrize("is_fixed", [False, True])
def test_a_slash_at_the_end_of_the_address_hands_in_too(
    rita: Any, ada: Visitor, hit: dict[str, Any], is_fixed: bool
) -> None:
    frame = ada.accept(hit)
    path = f"{FIXED if is_fixed else submit_path(frame)}/"
    reply = posted(path, assignmentId=frame.query["assignmentId"], answer="42")
    assert reply.status_code == 200
    assert handed_in(rita, hit) == [{"answer": "42"}]


@pytest.mark.parametrize("is_fixed", [False, True])
def test_psiturk_and_dallinger_send_ids_alone(
    rita: Any, ada: Visitor, hit: dict[str, Any], is_fixed: bool
) -> None:
    """Their last page posts assignmentId, hitId and workerId; scripts read the last two back."""
    frame = ada.accept(hit)
    ids = {name: frame.query[name] for name in ("assignmentId", "hitId", "workerId")}
    assert posted(FIXED if is_fixed else submit_path(frame), **ids).status_code == 200
    assert handed_in(rita, hit) == [{"hitId": ids["hitId"], "workerId": ids["workerId"]}]


@pytest.mark.parametrize("path", [FIXED, "/accepted/mturk/externalSubmit"])
def test_a_page_that_forgets_the_path_is_found_by_its_assignment(
    rita: Any, ada: Visitor, hit: dict[str, Any], path: str
) -> None:
    """`new URL("mturk/externalSubmit", turkSubmitTo)` keeps the host, or a part of the path."""
    frame = ada.accept(hit)
    reply = posted(path, assignmentId=frame.query["assignmentId"], answer="42")
    assert reply.status_code == 200
    assert "frame-ancestors 'self'" in reply["Content-Security-Policy"]
    assert handed_in(rita, hit) == [{"answer": "42"}]
    again = posted(path, assignmentId=frame.query["assignmentId"], answer="43")
    assert again.status_code == 200
    assert handed_in(rita, hit) == [{"answer": "42"}]


@pytest.fixture
def two(rita: Any, ada: Visitor, grace: Visitor, hit: dict[str, Any]) -> tuple[Frame, Frame]:
    """The frames of Ada, who gave her place back, and of Grace, who holds it now."""
    before = ada.accept(hit)
    ada.post(before.path, f"{before.path}return/")
    now = grace.accept(hit)
    assert now.query["assignmentId"] == before.query["assignmentId"]
    return before, now


def test_whoever_had_the_place_before_cannot_hand_in_for_the_holder(
    rita: Any, two: tuple[Frame, Frame], hit: dict[str, Any]
) -> None:
    before, now = two
    assert posted(FIXED, **ids_of(before), answer="Ada's").status_code == 409
    assert handed_in(rita, hit) == []
    assert "Ada" in Assignment.objects.get(state=AssignmentState.RETURNED).late_answer
    assert posted(FIXED, **ids_of(now), answer="Grace's").status_code == 200
    [answer] = handed_in(rita, hit)
    assert answer["answer"] == "Grace's"


def ids_of(frame: Frame) -> dict[str, str]:
    return {name: frame.query[name] for name in ("assignmentId", "workerId")}


@pytest.mark.parametrize("way", ["field", "referer"])
def test_a_secret_that_comes_along_tells_whose_it_is(
    rita: Any, two: tuple[Frame, Frame], hit: dict[str, Any], way: str
) -> None:
    before, now = two
    for frame, status in ((before, 409), (now, 200)):
        browser = Client(headers={"Host": HOST})
        fields = {"assignmentId": frame.query["assignmentId"], "answer": "mine"}
        headers = {}
        if way == "field":
            fields["turkSubmitTo"] = frame.query["turkSubmitTo"]
        else:
            headers = {"Referer": frame.url}
        assert browser.post(FIXED, fields, headers=headers).status_code == status
    assert handed_in(rita, hit) == [{"answer": "mine"}]


@pytest.mark.parametrize("told", ["http://[", "http://℀/accepted/x", "\x00", "/accepted/"])
def test_what_is_no_address_tells_nothing(
    rita: Any, ada: Visitor, hit: dict[str, Any], told: str
) -> None:
    frame = ada.accept(hit)
    fields = {"assignmentId": frame.query["assignmentId"], "answer": "42", "turkSubmitTo": told}
    browser = Client(headers={"Host": HOST})
    reply = browser.post(FIXED, fields, headers={"Referer": told.encode("utf-8").decode("latin-1")})
    assert reply.status_code == 200
    assert handed_in(rita, hit) == [{"answer": "42"}]


def test_a_form_of_nobody_s_is_kept_and_can_be_paid(
    rita: Any, grace: Visitor, two: tuple[Frame, Frame], hit: dict[str, Any]
) -> None:
    assignment_id = two[1].query["assignmentId"]
    reply = posted(FIXED, assignmentId=assignment_id, answer="whose?")
    assert reply.status_code == 409
    assert b"write to the requester" in reply.content
    assert handed_in(rita, hit) == []
    rita.send_bonus(
        WorkerId=grace.worker.worker_id,
        AssignmentId=assignment_id,
        BonusAmount="4.50",
        Reason="Your page did not say that it was you.",
    )
    assert two[1].submit(answer="mine").status_code == 200


def test_an_account_that_was_merged_meanwhile_still_hands_in(
    rita: Any, ada: Visitor, two: tuple[Frame, Frame], hit: dict[str, Any]
) -> None:
    from marketplace import clock

    kept, now = Visitor("Kept").worker, two[1]
    merge(kept, Assignment.objects.get(state=AssignmentState.ACCEPTED).worker, clock.now())
    assert posted(FIXED, **ids_of(now), answer="mine").status_code == 200
    assert Assignment.objects.get(state=AssignmentState.SUBMITTED).worker == kept


def test_what_names_no_acceptance_is_refused(ada: Visitor, hit: dict[str, Any]) -> None:
    frame = ada.accept(hit)
    assert posted(FIXED, answer="42").status_code == 404
    assert posted(FIXED, assignmentId="3UNKNOWN", answer="42").status_code == 404
    assert posted(FIXED, assignmentId=frame.query["assignmentId"]).status_code == 400
    assert Client(headers={"Host": HOST}).get(FIXED).status_code == 405
    assert not Assignment.objects.exclude(state=AssignmentState.ACCEPTED).exists()


def test_a_field_is_taken_from_the_body_before_the_address(
    rita: Any, ada: Visitor, hit: dict[str, Any]
) -> None:
    """A form whose hidden field was never filled in keeps the id of its address."""
    frame = ada.accept(hit)
    query = f"assignmentId={frame.query['assignmentId']}&q=address&from=address"
    fields = {"assignmentId": "", "q": "body"}
    assert posted(submit_path(frame), query, **fields).status_code == 200
    assert handed_in(rita, hit) == [{"q": "body", "from": "address"}]
    assert set(parse_qs(query)) > set(fields)
