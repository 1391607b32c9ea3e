"""A requester's and a worker's whole life, from posting to being paid."""

from typing import Any

from marketplace.people.accounts import RequesterKeys
from marketplace.questions.question import Entry, entry_signature
from marketplace.tests.visitor import Visitor


def test_a_hit_goes_from_posting_to_approval(
    rita: Any, rita_keys: RequesterKeys, ada: Visitor, make_hit: Any
) -> None:
    hit = make_hit(rita, MaxAssignments=2, RequesterAnnotation="unit 7")
    assert hit["HITStatus"] == "Assignable"
    assert rita.get_account_balance()["AvailableBalance"] == "9991.00"

    frame = ada.accept(hit)
    query = frame.query
    assert frame.url.startswith("https://task.example/hit?unit=7&lang=en&assignmentId=")
    names = "assignmentId hitId workerId turkSubmitTo entryExpires entrySignature"
    assert list(query)[2:] == names.split()
    assert query["entrySignature"] == entry_signature(
        rita_keys.entry_secret,
        Entry(*list(query.values())[2:6], expires=int(query["entryExpires"])),
    )
    assert rita.get_hit(HITId=hit["HITId"])["HIT"]["NumberOfAssignmentsPending"] == 1
    assert rita.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"] == []

    reply = frame.submit(answer="Wo ist Zoë? 🦉", receipt="r1")
    assert reply.status_code == 200
    assert b"submitted.js" in reply.content
    assert "frame-ancestors 'self'" in reply["Content-Security-Policy"]

    [assignment] = rita.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    assert assignment["AssignmentStatus"] == "Submitted"
    assert assignment["WorkerId"] == ada.worker.worker_id
    assert assignment["AssignmentId"] == query["assignmentId"]
    assert assignment["Answer"].isascii()
    assert "Zo&#235;? &#129417;" in assignment["Answer"]

    rita.approve_assignment(AssignmentId=assignment["AssignmentId"], RequesterFeedback="Lovely.")
    rita.send_bonus(
        WorkerId=ada.worker.worker_id,
        AssignmentId=assignment["AssignmentId"],
        BonusAmount="0.75",
        Reason="Two links in one question.",
        UniqueRequestToken="bonus-1",
    )
    balance = rita.get_account_balance()
    assert (balance["AvailableBalance"], balance["OnHoldBalance"]) == ("9990.25", "4.50")
    history = ada.get("/history/").content.decode()
    assert "Lovely." in history
    assert "$0.75" in history
    assert "$5.25" in ada.get("/earnings/").content.decode()
