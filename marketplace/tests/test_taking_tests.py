"""A worker takes a qualification test on the site."""

from typing import Any

import pytest

from marketplace.models import QualificationGrant, QualificationRequest
from marketplace.tests.visitor import Visitor

SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"
TEST = f"""<QuestionForm xmlns="{SCHEMAS}2017-11-06/QuestionForm.xsd">
<Overview><Title>Harbours</Title><Text>Two questions.</Text></Overview>
<Question><QuestionIdentifier>depth</QuestionIdentifier><DisplayName>Depth</DisplayName>
<IsRequired>true</IsRequired><QuestionContent><Text>Which is deeper?</Text></QuestionContent>
<AnswerSpecification><SelectionAnswer><StyleSuggestion>radiobutton</StyleSuggestion><Selections>
<Selection><SelectionIdentifier>sea</SelectionIdentifier><Text>The sea</Text></Selection>
<Selection><SelectionIdentifier>pond</SelectionIdentifier><Text>A pond</Text></Selection>
</Selections></SelectionAnswer></AnswerSpecification></Question>
<Question><QuestionIdentifier>why</QuestionIdentifier><IsRequired>true</IsRequired>
<QuestionContent><Text>Why?</Text></QuestionContent>
<AnswerSpecification><FreeTextAnswer/></AnswerSpecification></Question></QuestionForm>"""
KEY = f"""<AnswerKey xmlns="{SCHEMAS}2005-10-01/AnswerKey.xsd">
<Question><QuestionIdentifier>depth</QuestionIdentifier><AnswerOption>
<SelectionIdentifier>sea</SelectionIdentifier><AnswerScore>100</AnswerScore></AnswerOption>
</Question></AnswerKey>"""


def made(client: Any, **changes: Any) -> str:
    """Return the page of the test of a new qualification of the client's."""
    values = {
        "Name": "Harbours",
        "Description": "Know your harbours.",
        "QualificationTypeStatus": "Active",
        "Test": TEST,
        "TestDurationInSeconds": 600,
    }
    kind = client.create_qualification_type(**values | changes)["QualificationType"]
    return f"/qualifications/{kind['QualificationTypeId']}/test/"


def test_a_test_with_a_key_is_scored_at_once(rita: Any, ada: Visitor) -> None:
    path = made(rita, AnswerKey=KEY)
    listing = ada.get("/qualifications/").content.decode()
    assert f'href="{path}"' in listing
    assert "/ask/" not in listing
    assert "You have 10 minutes" in ada.get(path).content.decode()
    begun = ada.post(path, path, begin="1").content.decode()
    assert "Which is deeper?" in begun
    page = ada.post(path, path, depth="sea", why="It is the sea.")
    assert "Your score for “Harbours” is 100." in page.content.decode()
    assert QualificationGrant.objects.get().integer_value == 100
    assert "once only" in ada.send(path, begin="1").content.decode()


def test_a_score_that_the_requester_took_away_is_not_had_by_taking_the_test_again(
    rita: Any, ada: Visitor, later: Any
) -> None:
    path = made(rita, AnswerKey=KEY, RetryDelayInSeconds=60)
    both = {"QualificationTypeId": path.split("/")[2], "WorkerId": ada.worker.worker_id}
    answers = {"depth": "sea", "why": "It is the sea."}
    ada.post(path, path, begin="1")
    ada.post(path, path, **answers)
    rita.disassociate_qualification_from_worker(**both, Reason="Copied answers.")
    later(minutes=2)
    ada.post(path, path, begin="1")
    page = ada.post(path, path, **answers).content.decode()
    assert "is handed in. The answer will show here." in page
    assert QualificationGrant.objects.get().is_revoked
    assert rita.list_qualification_requests()["NumResults"] == 1


def test_an_incomplete_test_keeps_what_was_typed(rita: Any, ada: Visitor) -> None:
    path = made(rita, AnswerKey=KEY)
    ada.post(path, path, begin="1")
    page = ada.post(path, path, why="Because <it> is.")
    html = page.content.decode()
    assert page.status_code == 400
    assert "Because &lt;it&gt; is." in html
    html = ada.post(path, path, depth="pond").content.decode()
    assert 'value="pond" checked' in html
    assert QualificationRequest.objects.get().state == "started"


def test_without_a_key_the_requester_decides(rita: Any, ada: Visitor) -> None:
    path = made(rita)
    ada.post(path, path, begin="1")
    page = ada.post(path, path, depth="sea", why="x").content.decode()
    assert "is handed in. The answer will show here." in page
    assert "Waiting for the requester" in page


@pytest.mark.parametrize("minutes", [12, 200])
def test_a_late_test_does_not_count(rita: Any, ada: Visitor, later: Any, minutes: int) -> None:
    path = made(rita, RetryDelayInSeconds=60)
    begun = ada.post(path, path, begin="1").content.decode()
    assert "Go on" in ada.get("/qualifications/").content.decode()
    later(minutes=minutes)
    page = ada.send_from(begun, path, depth="sea", why="x").content.decode()
    assert "This test is over" in page
    assert "Begin the test" in ada.get(path).content.decode()


def test_a_test_handed_in_twice_begins_no_other_and_its_score_stays(
    rita: Any, ada: Visitor, later: Any
) -> None:
    path = made(rita, AnswerKey=KEY, RetryDelayInSeconds=60)
    first = ada.post(path, path, begin="1").content.decode()
    ada.send_from(first, path, depth="sea", why="It is the sea.")
    for minutes in (0, 2):
        later(minutes=minutes)
        again = ada.send_from(first, path, depth="pond", why="x").content.decode()
        assert "This test is over: its time was up, or it was handed in before." in again
        assert QualificationRequest.objects.get().state == "granted"
    # A page of the first attempt hands nothing in for the second.
    second = ada.post(path, path, begin="1").content.decode()
    ada.send_from(first, path, depth="pond", why="x")
    assert QualificationGrant.objects.get().integer_value == 100
    assert QualificationRequest.objects.latest("pk").state == "started"
    ada.send_from(second, path, depth="pond", why="x")
    assert QualificationGrant.objects.get().integer_value == 0


def test_a_type_without_a_test_has_no_page(rita: Any, ada: Visitor) -> None:
    kind = rita.create_qualification_type(
        Name="Plain", Description="d", QualificationTypeStatus="Active"
    )["QualificationType"]["QualificationTypeId"]
    assert ada.get(f"/qualifications/{kind}/test/").status_code == 404


def test_what_was_written_is_kept_when_the_requester_deletes_the_type_meanwhile(
    rita: Any, ada: Visitor
) -> None:
    path = made(rita)
    ada.post(path, path, begin="1")
    kind = path.split("/")[2]
    rita.delete_qualification_type(QualificationTypeId=kind)
    told = ada.post(path, path, depth="sea", why="It is the sea.").content.decode()
    assert "The requester withdrew it. What you wrote is kept" in told
    assert "It is the sea." in QualificationRequest.objects.get().answer
    assert "It is the sea." in ada.get("/account/data.json").content.decode()
    assert rita.list_qualification_requests()["QualificationRequests"] == []
    assert ada.get(path).status_code == 404
