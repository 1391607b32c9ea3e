"""Every decision about a person's work, tests, pay and access is one message that leads to it."""

import re
from datetime import date
from typing import Any

import pytest

from marketplace import clock
from marketplace.models import Assignment, Message
from marketplace.payouts import record_payout
from marketplace.people.grants import add_members, make_group, remove_member
from marketplace.tests.test_contests import contest
from marketplace.tests.visitor import Visitor

EARNED = {"QualificationTypeStatus": "Active", "Keywords": "earned"}


def told(worker: Visitor) -> list[tuple[str, str]]:
    """Return subject and text of what the marketplace wrote to a worker, the oldest first."""
    rows = Message.objects.filter(worker=worker.worker, is_from_worker=False)
    return list(rows.order_by("pk").values_list("subject", "text"))


def newest(worker: Visitor) -> str:
    """Return the newest message as the worker's page shows it."""
    return worker.get("/messages/").content.decode().partition("<article>")[2].partition("</li>")[0]


@pytest.fixture
def handed_in(rita: Any, ada: Visitor, make_hit: Any) -> Assignment:
    """Ada's work, undecided."""
    ada.submit(make_hit(rita, Title="Read about a mill"))
    return Assignment.objects.get()


def test_rejected_work_is_told_with_its_reason_and_leads_to_the_contest(
    rita: Any, ada: Visitor, handed_in: Assignment
) -> None:
    rita.reject_assignment(AssignmentId=handed_in.assignment_id, RequesterFeedback="All <empty>.")
    assert told(ada) == [("Rejected: Read about a mill", "All <empty>.")]
    page = newest(ada)
    assert "All &lt;empty&gt;." in page
    assert f'<a href="/work/{handed_in.pk}/">contest the rejection</a> within 30 days' in page


def test_what_becomes_of_a_contest_is_told(rita: Any, ada: Visitor, handed_in: Assignment) -> None:
    rita.reject_assignment(AssignmentId=handed_in.assignment_id, RequesterFeedback="")
    contest(ada, handed_in)
    rita.approve_assignment(AssignmentId=handed_in.assignment_id, OverrideRejection=True)
    assert told(ada) == [
        ("Rejected: Read about a mill", "No reason was given."),
        (
            "Approved after all: Read about a mill",
            "This work was rejected before. It is approved now, and its reward is yours.",
        ),
    ]
    assert f'href="/work/{handed_in.pk}/"' in newest(ada)


def test_work_approved_in_its_time_is_no_message(
    rita: Any, ada: Visitor, handed_in: Assignment
) -> None:
    rita.approve_assignment(AssignmentId=handed_in.assignment_id)
    assert told(ada) == []


def test_a_recorded_payment_is_told_once_and_leads_to_earnings(
    rita: Any, ada: Visitor, handed_in: Assignment
) -> None:
    rita.approve_assignment(AssignmentId=handed_in.assignment_id)
    for _ in range(2):
        record_payout(ada.worker.worker_id, 450, date(2026, 11, 28), "SEPA", "R1", clock.now())
    assert told(ada) == [("$4.50 was paid to you", "On 2026-11-28 by SEPA, reference R1.")]
    assert '<a href="/earnings/">' in newest(ada)


def test_a_test_not_passed_is_told_with_its_note_and_leads_to_what_was_handed_in(
    rita: Any, ada: Visitor, make_hit: Any
) -> None:
    made = rita.create_qualification_type(Name="Ask well", Description="d", **EARNED)
    key = made["QualificationType"]["QualificationTypeId"]
    ada.submit(make_hit(rita, Title="A try-out", Keywords=f"earns:{key}"))
    who = {"QualificationTypeId": key, "WorkerId": ada.worker.worker_id}
    rita.associate_qualification_with_worker(**who, IntegerValue=0, SendNotification=False)
    rita.disassociate_qualification_from_worker(**who, Reason="Two questions have no answer.")
    assert told(ada) == [("Not passed: Ask well", "Two questions have no answer.")]
    assert f'<a href="/work/{Assignment.objects.get().pk}/">A try-out</a>' in newest(ada)
    page = ada.get("/qualifications/").content.decode()
    assert "Not passed" in page
    assert "Withdrawn" not in page
    assert "Two questions have no answer." in page
    # It is none of those that they can get, with a blank for the time of what waits.
    assert "Handed in on" not in page
    assert page.count("Ask well") == 1

    rita.associate_qualification_with_worker(**who)
    rita.disassociate_qualification_from_worker(**who, Reason="By mistake.")
    assert told(ada)[1:] == [
        ("You now have the qualification “Ask well”", "d"),
        ("Your qualification “Ask well” was withdrawn", "By mistake."),
    ]


def test_a_qualification_says_which_hits_it_has_opened(
    rita: Any, ada: Visitor, make_hit: Any
) -> None:
    entry, passed = (
        rita.create_qualification_type(
            Name=name, Description="d", **EARNED | {"Keywords": f"earned, {more}"}
        )["QualificationType"]["QualificationTypeId"]
        for name, more in (("May talk", "unlisted"), ("Student", ""))
    )
    asks = {"Comparator": "EqualTo", "IntegerValues": [1], "ActionsGuarded": "Accept"}
    for title, key in (("Write", passed), ("Talk", entry)):
        asked = [asks | {"QualificationTypeId": key}]
        make_hit(rita, Title=title, QualificationRequirements=asked)
    make_hit(rita, Title="Open to all")
    for key in (entry, passed):
        rita.associate_qualification_with_worker(
            QualificationTypeId=key, WorkerId=ada.worker.worker_id, SendNotification=key == passed
        )
    opened = re.findall(r'href="/kinds/\w+/">([^<]+)', newest(ada))
    assert sorted(opened) == ["Talk", "Write"]


def test_a_group_says_which_hits_members_of_any_of_several_can_take(
    rita: Any, ada: Visitor, make_hit: Any
) -> None:
    groups = [make_group(name, "", clock.now()).qualification_type for name in ("One", "Two")]
    ids = ", ".join(f"any-of:{row.qualification_type_id}" for row in groups)
    made = rita.create_qualification_type(
        Name="One or two", Description="d", **EARNED | {"Keywords": f"earned, unlisted, {ids}"}
    )
    asks = {
        "QualificationTypeId": made["QualificationType"]["QualificationTypeId"],
        "Comparator": "Exists",
        "ActionsGuarded": "DiscoverPreviewAndAccept",
    }
    make_hit(rita, Title="For members", QualificationRequirements=[asks])
    add_members(groups[0], [ada.worker], clock.now())
    assert re.findall(r'href="/kinds/\w+/">([^<]+)', newest(ada)) == ["For members"]


def test_an_asked_for_qualification_is_answered(rita: Any, ada: Visitor, grace: Visitor) -> None:
    made = rita.create_qualification_type(
        Name="Careful", Description="d", QualificationTypeStatus="Active"
    )
    for visitor in (ada, grace):
        visitor.send(f"/qualifications/{made['QualificationType']['QualificationTypeId']}/ask/")
    first, second = rita.list_qualification_requests()["QualificationRequests"]
    rita.accept_qualification_request(QualificationRequestId=first["QualificationRequestId"])
    rita.reject_qualification_request(
        QualificationRequestId=second["QualificationRequestId"], Reason="Not now."
    )
    assert told(ada) == [("You now have the qualification “Careful”", "d")]
    assert told(grace) == [("You asked for “Careful”: it was declined", "Not now.")]


def test_a_block_is_told_once_and_its_reason_stays_with_the_requester(
    rita: Any, ada: Visitor
) -> None:
    who = {"WorkerId": ada.worker.worker_id, "Reason": "Copies."}
    for _ in range(2):
        rita.create_worker_block(**who)
    for _ in range(2):
        rita.delete_worker_block(**who)
    [(closed, _means), (opened, _)] = told(ada)
    assert closed == "Rita has closed its HITs to you"
    assert opened == "Rita has opened its HITs to you again"
    assert "Copies" not in str(told(ada))


def test_who_comes_into_a_group_or_out_of_it_is_told(ada: Visitor) -> None:
    row = make_group("Panel", "", clock.now()).qualification_type
    for _ in range(2):
        add_members(row, [ada.worker], clock.now())
    for _ in range(2):
        remove_member(row, ada.worker, clock.now())
    assert told(ada) == [
        ("You are in the group “Panel” now", "Members of Panel."),
        (
            "You are not in the group “Panel” any more",
            "Taken out of the group by the host.",
        ),
    ]
    assert "reply" not in newest(ada)
