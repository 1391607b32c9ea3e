"""Messages from requesters to workers they know."""

from typing import Any

from marketplace.tests.refusals import refused
from marketplace.tests.visitor import Visitor


def test_only_workers_one_has_reviewed_are_reached(
    rita: Any, ada: Visitor, grace: Visitor, make_hit: Any
) -> None:
    hit = make_hit(rita)
    ada.submit(hit)
    [assignment] = rita.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    rita.approve_assignment(AssignmentId=assignment["AssignmentId"])
    reply = rita.notify_workers(
        Subject="New HITs",
        MessageText="There are more <b>today</b>.",
        WorkerIds=[ada.worker.worker_id, grace.worker.worker_id, "ANOBODY"],
    )
    failed = [one["WorkerId"] for one in reply["NotifyWorkersFailureStatuses"]]
    assert failed == [grace.worker.worker_id, "ANOBODY"]
    assert "1<span" in ada.get("/hits/").content.decode()
    page = ada.get("/messages/").content.decode()
    assert "There are more &lt;b&gt;today&lt;/b&gt;." in page
    assert "unread" not in ada.get("/hits/").content.decode()


def test_a_message_has_its_limits(rita: Any) -> None:
    message = {"Subject": "s", "MessageText": "t", "WorkerIds": ["A1"]}
    for change in ({"Subject": ""}, {"MessageText": "x" * 4097}, {"WorkerIds": []}):
        with refused("InvalidParameterValue"):
            rita.notify_workers(**message | change)
    with refused("InvalidParameterValue"):
        rita.notify_workers(**message | {"WorkerIds": [f"A{n}" for n in range(101)]})
