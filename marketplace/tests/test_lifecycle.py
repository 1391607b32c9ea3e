"""What the clock alone changes, and what requesters change about a HIT's life."""

from datetime import timedelta
from typing import Any

from marketplace import clock
from marketplace.models import HIT, Requester
from marketplace.tests.refusals import refused
from marketplace.tests.visitor import Visitor

DAY = 24 * 3600


def read(client: Any, hit: dict[str, Any]) -> tuple[str, int, int, int]:
    """Return status, pending, available and completed of a HIT."""
    now = client.get_hit(HITId=hit["HITId"])["HIT"]
    return (
        now["HITStatus"],
        now["NumberOfAssignmentsPending"],
        now["NumberOfAssignmentsAvailable"],
        now["NumberOfAssignmentsCompleted"],
    )


def test_a_hit_goes_through_its_states(
    rita: Any, ada: Visitor, grace: Visitor, make_hit: Any
) -> None:
    hit = make_hit(rita, MaxAssignments=2)
    assert read(rita, hit) == ("Assignable", 0, 2, 0)
    frame = ada.accept(hit)
    assert read(rita, hit) == ("Assignable", 1, 1, 0)
    grace.submit(hit)
    assert read(rita, hit) == ("Unassignable", 1, 0, 0)
    frame.submit(a="1")
    assert read(rita, hit) == ("Reviewable", 0, 0, 0)
    [one, two] = rita.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    rita.approve_assignment(AssignmentId=one["AssignmentId"])
    rita.update_hit_review_status(HITId=hit["HITId"])
    assert read(rita, hit) == ("Reviewing", 0, 0, 1)
    assert rita.list_reviewable_hits()["HITs"] == []
    assert len(rita.list_reviewable_hits(Status="Reviewing")["HITs"]) == 1
    with refused("InvalidHITState", "neither approved nor"):
        rita.delete_hit(HITId=hit["HITId"])
    rita.update_hit_review_status(HITId=hit["HITId"], Revert=True)
    with refused("InvalidHITState", "neither approved nor"):
        rita.delete_hit(HITId=hit["HITId"])
    rita.reject_assignment(AssignmentId=two["AssignmentId"], RequesterFeedback="Empty.")
    rita.delete_hit(HITId=hit["HITId"])
    assert read(rita, hit) == ("Disposed", 0, 0, 2)
    assert rita.list_hits()["HITs"] == []
    with refused("InvalidHITState", "'Disposed'"):
        rita.approve_assignment(AssignmentId=two["AssignmentId"], OverrideRejection=True)


def test_a_hit_under_review_can_be_deleted(rita: Any, ada: Visitor, make_hit: Any) -> None:
    hit = make_hit(rita, MaxAssignments=1)
    with refused("InvalidHITState", "status of: Reviewing, Reviewable"):
        rita.delete_hit(HITId=hit["HITId"])
    ada.submit(hit)
    [one] = rita.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    rita.update_hit_review_status(HITId=hit["HITId"])
    rita.approve_assignment(AssignmentId=one["AssignmentId"])
    rita.delete_hit(HITId=hit["HITId"])
    assert read(rita, hit)[0] == "Disposed"


def test_a_deleted_hit_can_be_expired_again_and_not_extended(rita: Any, make_hit: Any) -> None:
    hit = make_hit(rita)
    for _ in range(2):
        rita.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=0)
        if read(rita, hit)[0] != "Disposed":
            rita.delete_hit(HITId=hit["HITId"])
    with refused("InvalidHITState", "currently in the state 'Disposed'"):
        rita.delete_hit(HITId=hit["HITId"])
    with refused("InvalidHITState", "'Disposed'"):
        rita.update_expiration_for_hit(
            HITId=hit["HITId"], ExpireAt=hit["Expiration"] + timedelta(days=1)
        )
    assert rita.get_account_balance()["OnHoldBalance"] == "0.00"


def test_an_abandoned_place_is_free_again(
    rita: Any, ada: Visitor, make_hit: Any, later: Any
) -> None:
    hit = make_hit(rita)
    ada.accept(hit)
    later(seconds=3599)
    assert read(rita, hit) == ("Unassignable", 1, 0, 0)
    later(seconds=2)
    assert read(rita, hit) == ("Assignable", 0, 1, 0)


def test_expiry_throws_nobody_out(rita: Any, ada: Visitor, make_hit: Any) -> None:
    hit = make_hit(rita, MaxAssignments=3)
    frame = ada.accept(hit)
    rita.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=0)
    assert read(rita, hit) == ("Unassignable", 1, 2, 0)
    assert rita.get_account_balance()["OnHoldBalance"] == "4.50"
    assert frame.submit(a="1").status_code == 200
    assert read(rita, hit) == ("Reviewable", 0, 2, 0)
    rita.update_expiration_for_hit(
        HITId=hit["HITId"], ExpireAt=clock.now() + timedelta(seconds=DAY)
    )
    assert read(rita, hit) == ("Assignable", 0, 2, 0)
    assert rita.get_account_balance()["OnHoldBalance"] == "13.50"


def test_money_for_places_nobody_took_comes_back_when_the_hit_expires(
    rita: Any, make_hit: Any, later: Any
) -> None:
    make_hit(rita, MaxAssignments=2)
    assert rita.get_account_balance()["AvailableBalance"] == "9991.00"
    later(days=2)
    assert rita.get_account_balance()["AvailableBalance"] == "10000.00"


def test_undecided_work_is_approved_by_the_clock(
    rita: Any, ada: Visitor, make_hit: Any, later: Any
) -> None:
    hit = make_hit(rita, AutoApprovalDelayInSeconds=3 * DAY)
    ada.submit(hit)
    later(days=2, hours=23)
    assert read(rita, hit)[3] == 0
    later(hours=1, seconds=5)
    [assignment] = rita.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    assert assignment["AssignmentStatus"] == "Approved"
    assert assignment["ApprovalTime"] == assignment["AutoApprovalTime"]
    assert "$4.50" in ada.get("/earnings/").content.decode()
    requester = Requester.objects.get(name="Rita")
    assert (requester.balance_cents, requester.held_cents) == (1_000_000 - 450, 0)
    with refused("InvalidAssignmentState", "with a status of: Submitted"):
        rita.approve_assignment(AssignmentId=assignment["AssignmentId"])


def test_a_hit_is_gone_after_120_days(rita: Any, ada: Visitor, make_hit: Any, later: Any) -> None:
    done, left_over = make_hit(rita), make_hit(rita, LifetimeInSeconds=10 * DAY)
    ada.submit(done)
    later(days=119)
    assert {hit["HITStatus"] for hit in rita.list_hits()["HITs"]} == {"Reviewable"}
    later(days=2)
    assert rita.get_hit(HITId=done["HITId"])["HIT"]["HITStatus"] == "Disposed"
    assert [hit["HITId"] for hit in rita.list_hits()["HITs"]] == [left_over["HITId"]]
    later(days=10)
    assert rita.list_hits()["HITs"] == []


def test_the_worker_s_own_pages_settle_too(
    rita: Any, ada: Visitor, make_hit: Any, later: Any
) -> None:
    ada.submit(make_hit(rita))
    later(days=6)
    assert "Approved" in ada.get("/history/").content.decode()


def test_more_places_can_be_added(rita: Any, ada: Visitor, make_hit: Any) -> None:
    hit = make_hit(rita)
    ada.submit(hit)
    more = {"HITId": hit["HITId"], "NumberOfAdditionalAssignments": 2}
    rita.create_additional_assignments_for_hit(**more, UniqueRequestToken="more")
    with refused("DuplicateRequest"):
        rita.create_additional_assignments_for_hit(**more, UniqueRequestToken="more")
    assert read(rita, hit) == ("Assignable", 0, 2, 0)
    with refused("InvalidMaximumAssignmentsIncrease"):
        rita.create_additional_assignments_for_hit(
            HITId=hit["HITId"], NumberOfAdditionalAssignments=7
        )


def test_a_hit_that_cannot_be_paid_is_not_posted(rita: Any, make_hit: Any) -> None:
    with refused("InsufficientFunds"):
        make_hit(rita, Reward="5000.01", MaxAssignments=2)
    hit = make_hit(rita, Reward="4000", MaxAssignments=2)
    with refused("InsufficientFunds"):
        rita.create_additional_assignments_for_hit(
            HITId=hit["HITId"], NumberOfAdditionalAssignments=1
        )
    assert HIT.objects.get().max_assignments == 2


def test_an_open_hit_cannot_be_deleted(rita: Any, make_hit: Any) -> None:
    hit = make_hit(rita)
    with refused("InvalidHITState", "Assignable"):
        rita.delete_hit(HITId=hit["HITId"])
    with refused("InvalidHITState"):
        rita.update_hit_review_status(HITId=hit["HITId"])
    rita.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=0)
    rita.delete_hit(HITId=hit["HITId"])
    assert read(rita, hit)[0] == "Disposed"


def test_a_place_given_up_never_costs_more_than_was_held(
    rita: Any, ada: Visitor, make_hit: Any, later: Any
) -> None:
    hit = make_hit(rita, Reward="1.00")
    ada.accept(hit)
    values = {"Title": "t", "Description": "d", "AssignmentDurationInSeconds": 600}
    dearer = rita.create_hit_type(Reward="9000.00", **values)["HITTypeId"]
    rita.update_hit_type_of_hit(HITId=hit["HITId"], HITTypeId=dearer)
    assert rita.get_account_balance()["OnHoldBalance"] == "9000.00"
    make_hit(rita, Reward="999.00")
    later(hours=2)
    assert read(rita, hit) == ("Assignable", 0, 1, 0)
    assert rita.get_account_balance()["AvailableBalance"] == "1.00"


def test_another_type_leaves_the_approval_of_accepted_work_where_it_was_promised(
    rita: Any, ada: Visitor, grace: Visitor, make_hit: Any
) -> None:
    hit = make_hit(rita, MaxAssignments=2, AutoApprovalDelayInSeconds=3600)
    frame = ada.accept(hit)
    slower = make_hit(rita, AutoApprovalDelayInSeconds=86_400)["HITTypeId"]
    rita.update_hit_type_of_hit(HITId=hit["HITId"], HITTypeId=slower)
    frame.submit(answer="42")
    grace.submit(hit)
    rows = rita.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    delays = [(row["AutoApprovalTime"] - row["SubmitTime"]).total_seconds() for row in rows]
    assert delays == [3600, 86_400]
