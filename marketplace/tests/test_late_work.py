"""Work that came when its place was gone: kept, read by whom it concerns, and payable."""

from typing import Any

import pytest

from marketplace import funds
from marketplace.models import Assignment, Requester
from marketplace.tests.desk import DeskVisitor
from marketplace.tests.refusals import refused
from marketplace.tests.visitor import Visitor


@pytest.fixture
def late(rita: Any, ada: Visitor, make_hit: Any, later: Any) -> Assignment:
    """What Ada sent hours after her time was up."""
    frame = ada.accept(make_hit(rita))
    later(hours=3)
    assert frame.submit(answer="all of <b>my</b> work").status_code == 409
    return Assignment.objects.get()


def test_the_requester_reads_it_beside_the_worker_s_message(
    ada: Visitor, late: Assignment, settings: Any
) -> None:
    settings.MARKETPLACE_OPEN_DESK = False
    rita, host = DeskVisitor("Rita", Requester.objects.get()), DeskVisitor("Ida")
    path = f"/work/{late.pk}/write/"
    ada.post(path, path, subject="Too late", text="My train stopped.")
    for page in (rita.html("/desk/letters/"), host.html(f"/desk/workers/{late.worker_id}/")):
        assert "all of &lt;b&gt;my&lt;/b&gt; work" in page
        assert late.assignment_id in page


def test_a_bonus_can_be_sent_for_it(rita: Any, ada: Visitor, late: Assignment) -> None:
    which = {"WorkerId": ada.worker.worker_id, "AssignmentId": late.assignment_id}
    rita.send_bonus(BonusAmount="4.50", Reason="It was good work.", **which)
    assert funds.owed_cents(ada.worker) == 450
    [bonus] = rita.list_bonus_payments(AssignmentId=late.assignment_id)["BonusPayments"]
    assert bonus["WorkerId"] == ada.worker.worker_id


def test_no_bonus_is_sent_for_what_was_never_handed_in(
    rita: Any, ada: Visitor, make_hit: Any
) -> None:
    frame = ada.accept(make_hit(rita))
    with refused("AssignmentDoesNotExist"):
        rita.send_bonus(
            WorkerId=ada.worker.worker_id,
            AssignmentId=frame.query["assignmentId"],
            BonusAmount="1.00",
            Reason="For nothing.",
        )
