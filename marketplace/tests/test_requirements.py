"""Who may see, preview and accept what, guard by guard and comparator by comparator."""

from typing import Any

import pytest
from django.db import connections

from marketplace.models import HIT, Worker
from marketplace.people.requirements import (
    ADULT,
    LOCALE,
    MASTERS,
    N_APPROVED,
    PERCENT_APPROVED,
    WorkerRecord,
    access_to,
    is_met,
    record_for,
)
from marketplace.tests.refusals import refused
from marketplace.tests.visitor import Visitor


def need(type_id: str, comparator: str, *values: Any, **more: Any) -> dict[str, Any]:
    name = "LocaleValues" if type_id == LOCALE else "IntegerValues"
    return {"QualificationTypeId": type_id, "Comparator": comparator, name: list(values)} | more


def record(**changes: Any) -> WorkerRecord:
    worker = Worker(country="US", subdivision="CA", is_adult=False)
    return WorkerRecord(**{"worker": worker, "scores": {"3Q": 80}} | changes)


@pytest.mark.parametrize(
    ("requirement", "expected"),
    [
        (need("3Q", "Exists"), True),
        (need("3X", "Exists"), False),
        (need("3Q", "DoesNotExist"), False),
        (need("3X", "DoesNotExist"), True),
        (need("3Q", "GreaterThanOrEqualTo", 80), True),
        (need("3Q", "GreaterThan", 80), False),
        (need("3Q", "LessThanOrEqualTo", 80), True),
        (need("3Q", "LessThan", 80), False),
        (need("3Q", "EqualTo", 80), True),
        (need("3Q", "NotEqualTo", 80), False),
        (need("3Q", "In", 1, 80), True),
        (need("3Q", "NotIn", 1, 80), False),
        (need("3X", "NotEqualTo", 80), False),
        (need("3X", "LessThan", 80), False),
        (need(LOCALE, "EqualTo", {"Country": "US"}), True),
        (need(LOCALE, "EqualTo", {"Country": "us", "Subdivision": "ca"}), True),
        (need(LOCALE, "EqualTo", {"Country": "US", "Subdivision": "NY"}), False),
        (need(LOCALE, "In", {"Country": "GB"}, {"Country": "US", "Subdivision": "CA"}), True),
        (need(LOCALE, "NotIn", {"Country": "GB"}), True),
        (need(LOCALE, "NotEqualTo", {"Country": "US"}), False),
        (need(ADULT, "EqualTo", 1), False),
        (need(MASTERS[0], "Exists"), True),
        (need(N_APPROVED, "GreaterThan", 1000), True),
        (need(PERCENT_APPROVED, "GreaterThanOrEqualTo", 95), True),
    ],
)
def test_each_comparator(requirement: dict[str, Any], expected: bool) -> None:
    assert is_met(requirement, record()) is expected


def test_history_counts_from_a_hundred_submissions() -> None:
    old_hand = record(n_submitted=100, n_approved=90, n_rejected=10)
    assert not is_met(need(N_APPROVED, "GreaterThan", 1000), old_hand)
    assert is_met(need(PERCENT_APPROVED, "GreaterThanOrEqualTo", 90), old_hand)
    assert not is_met(need(PERCENT_APPROVED, "GreaterThanOrEqualTo", 95), old_hand)


def test_a_worker_of_no_country_is_in_none() -> None:
    nowhere = record(worker=Worker(country=""))
    assert not is_met(need(LOCALE, "NotIn", {"Country": "GB"}), nowhere)


def test_a_worker_who_leaves_out_their_state_is_neither_in_it_nor_outside() -> None:
    somewhere = record(worker=Worker(country="US"))
    california = {"Country": "US", "Subdivision": "CA"}
    assert not is_met(need(LOCALE, "EqualTo", california), somewhere)
    assert not is_met(need(LOCALE, "NotEqualTo", california), somewhere)
    assert is_met(need(LOCALE, "In", california, {"Country": "US"}), somewhere)
    assert is_met(need(LOCALE, "NotIn", california), record(worker=Worker(country="GB")))


@pytest.fixture
def passed(rita: Any) -> str:
    """The id of a qualification of Rita's that nobody has yet."""
    made = rita.create_qualification_type(
        Name="Question writer",
        Description="Do the practice HIT first.",
        QualificationTypeStatus="Active",
    )
    return made["QualificationType"]["QualificationTypeId"]


@pytest.mark.parametrize(
    ("guard", "is_listed", "preview_status"),
    [
        ({}, True, 200),
        ({"ActionsGuarded": "Accept"}, True, 200),
        ({"RequiredToPreview": True}, True, 403),
        ({"ActionsGuarded": "PreviewAndAccept"}, True, 403),
        ({"ActionsGuarded": "DiscoverPreviewAndAccept"}, False, 404),
    ],
)
def test_each_guard_closes_what_it_says(
    rita: Any,
    ada: Visitor,
    make_hit: Any,
    passed: str,
    guard: dict[str, Any],
    is_listed: bool,
    preview_status: int,
) -> None:
    hit = make_hit(
        rita, QualificationRequirements=[need(passed, "GreaterThanOrEqualTo", 80) | guard]
    )
    listing = ada.get("/hits/").content.decode()
    assert (hit["Title"] in listing) is is_listed
    assert ("Needs the qualification “Question writer” with a score of 80" in listing) is is_listed
    assert ("Ask for “Question writer”" in listing) is is_listed
    path = f"/hits/{hit['HITId']}/"
    assert ada.get(path).status_code == preview_status
    assert b"qualification that you do not have" in ada.send(f"{path}accept/").content

    worker = {"QualificationTypeId": passed, "WorkerId": ada.worker.worker_id}
    rita.associate_qualification_with_worker(**worker, IntegerValue=80)
    assert ada.accept(hit).query["hitId"] == hit["HITId"]


@pytest.mark.parametrize(
    "requirement",
    [
        need("3NOSUCH", "Exists"),
        need(ADULT, "Exists", 1),
        need(ADULT, "EqualTo"),
        need(ADULT, "EqualTo", 1, 2),
        need(ADULT, "In"),
        need(ADULT, "In", *range(16)),
        need(LOCALE, "Exists"),
        need(LOCALE, "EqualTo"),
        need(LOCALE, "In", *[{"Country": "US"}] * 31),
        need(ADULT, "EqualTo", LocaleValues=[{"Country": "US"}]),
    ],
)
def test_it_refuses_requirements_that_cannot_be_meant(
    rita: Any, make_hit: Any, requirement: dict[str, Any]
) -> None:
    with refused("InvalidParameterValue"):
        make_hit(rita, QualificationRequirements=[requirement])


@pytest.mark.parametrize("comparator", ["In", "EqualTo", "NotIn", "NotEqualTo"])
def test_several_countries_may_be_named_with_either_comparator(
    rita: Any, make_hit: Any, comparator: str
) -> None:
    places = [{"Country": "US"}, {"Country": "GB"}]
    asked = need(LOCALE, comparator, *places)
    assert make_hit(rita, QualificationRequirements=[asked])["QualificationRequirements"]
    assert is_met(asked, record()) == (comparator in ("In", "EqualTo"))
    with refused("InvalidParameterValue", "1 to 30"):
        make_hit(rita, QualificationRequirements=[need(LOCALE, comparator, *places * 16)])


def test_ten_requirements_are_enough(rita: Any, make_hit: Any) -> None:
    with refused("InvalidParameterValue"):
        make_hit(rita, QualificationRequirements=[need(ADULT, "EqualTo", 1)] * 11)


def test_a_blocked_worker_sees_nothing_of_that_requester(
    rita: Any, other_requester: Any, ada: Visitor, make_hit: Any
) -> None:
    hit, elsewhere = make_hit(rita), make_hit(other_requester, Title="Elsewhere")
    rita.create_worker_block(WorkerId=ada.worker.worker_id, Reason="Copied answers.")
    assert rita.list_worker_blocks()["WorkerBlocks"][0]["Reason"] == "Copied answers."
    page = ada.get("/hits/").content.decode()
    assert hit["Title"] not in page
    assert elsewhere["Title"] in page
    assert ada.get(f"/hits/{hit['HITId']}/").status_code == 404
    rita.delete_worker_block(WorkerId=ada.worker.worker_id)
    assert ada.accept(hit)


def test_of_a_record_only_what_a_type_asks_for_is_read(
    rita: Any, ada: Visitor, make_hit: Any, django_assert_num_queries: Any
) -> None:
    made = rita.create_qualification_type(
        Name="Careful readers", Description="d", QualificationTypeStatus="Active"
    )["QualificationType"]["QualificationTypeId"]
    rita.associate_qualification_with_worker(
        QualificationTypeId=made, WorkerId=ada.worker.worker_id, IntegerValue=80
    )
    for needs, n_queries, is_free in (
        ([], 1, True),
        ([need(made, "GreaterThan", 79)], 2, True),
        ([need(made, "GreaterThan", 80)], 2, False),
        ([need(made, "Exists"), need(ADULT, "EqualTo", 1)], 5, False),
    ):
        hit = make_hit(rita, QualificationRequirements=needs, Title=str(needs)[:120])
        kind = HIT.objects.select_related("hit_type").get(hit_id=hit["HITId"]).hit_type
        worker = ada.worker
        with django_assert_num_queries(n_queries, connection=connections["marketplace"]):
            record = record_for(worker, kind)
        assert access_to(kind, record).can_accept == is_free
    rita.create_worker_block(WorkerId=ada.worker.worker_id, Reason="r")
    assert not access_to(kind, record_for(ada.worker, kind)).can_discover
