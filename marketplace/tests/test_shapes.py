"""Requests and replies against botocore's own model, both ways."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from marketplace.wire.errors import ServiceFault, WireError
from marketplace.wire.shapes import dump_reply, load_request

pytestmark = pytest.mark.pure

HIT_TYPE = {
    "AssignmentDurationInSeconds": 60,
    "Reward": "0.10",
    "Title": "t",
    "Description": "d",
}


def load(operation: str, **members: Any) -> dict[str, Any]:
    return load_request(operation, json.dumps(members).encode())


def need(**changes: Any) -> list[dict[str, Any]]:
    return [{"QualificationTypeId": "3Q", "Comparator": "Exists"} | changes]


@pytest.mark.parametrize(
    ("operation", "members"),
    [
        ("CreateHITType", HIT_TYPE | {"Reward": "1.234"}),
        ("CreateHITType", HIT_TYPE | {"Reward": "-1"}),
        ("CreateHITType", HIT_TYPE | {"Reward": "١.٥"}),
        ("CreateHITType", HIT_TYPE | {"Reward": 1}),
        ("CreateHITType", HIT_TYPE | {"Reward": None}),
        ("CreateHITType", HIT_TYPE | {"Unknown": 1}),
        ("CreateHITType", HIT_TYPE | {"AssignmentDurationInSeconds": True}),
        ("CreateHITType", HIT_TYPE | {"AssignmentDurationInSeconds": 2**63}),
        ("CreateHITType", HIT_TYPE | {"Title": "a\x00b"}),
        ("CreateHITType", HIT_TYPE | {"Title": "\ud800"}),
        ("CreateHITType", HIT_TYPE | {"QualificationRequirements": need(Comparator="Like")}),
        ("CreateHITType", HIT_TYPE | {"QualificationRequirements": need(ActionsGuarded="All")}),
        (
            "CreateHITType",
            HIT_TYPE | {"QualificationRequirements": need(LocaleValues=[{"Country": "USA"}])},
        ),
        ("GetHIT", {}),
        ("GetHIT", {"HITId": ""}),
        ("GetHIT", {"HITId": "lower"}),
        ("GetHIT", {"HITId": "3HIT\n"}),
        ("GetHIT", {"HITId": "A" * 65}),
        ("ListHITs", {"MaxResults": 0}),
        ("ListHITs", {"MaxResults": 101}),
        ("ListHITs", {"NextToken": ""}),
        ("CreateWorkerBlock", {"WorkerId": "B1", "Reason": "r"}),
        ("UpdateExpirationForHIT", {"HITId": "3", "ExpireAt": "yesterday"}),
        ("UpdateExpirationForHIT", {"HITId": "3", "ExpireAt": True}),
        ("UpdateExpirationForHIT", {"HITId": "3", "ExpireAt": 1e300}),
    ],
)
def test_it_refuses_what_the_model_does_not_allow(operation: str, members: dict[str, Any]) -> None:
    with pytest.raises(WireError) as error:
        load(operation, **members)
    assert error.value.type_name == "ParameterValidationError"


@pytest.mark.parametrize(
    "body", [b"[]", b"{", b"\xff", b'{"MaxResults": NaN}', b"[" * 100_000, b'"text"']
)
def test_it_refuses_what_is_no_json_object(body: bytes) -> None:
    with pytest.raises(WireError) as error:
        load_request("ListHITs", body)
    assert error.value.type_name == "SerializationException"


def test_null_means_not_given() -> None:
    assert load("ListHITs", MaxResults=5, NextToken=None) == {"MaxResults": 5}


@pytest.mark.parametrize("value", [0, 0.0, "1970-01-01T00:00:00Z"])
def test_times_are_epoch_numbers_or_iso(value: Any) -> None:
    time = load("UpdateExpirationForHIT", HITId="3", ExpireAt=value)["ExpireAt"]
    assert time == datetime(1970, 1, 1, tzinfo=UTC)


def test_a_reply_has_epoch_times_and_no_nulls() -> None:
    created = datetime(2026, 11, 20, 12, 0, 0, 123456, tzinfo=UTC)
    reply = dump_reply("GetHIT", {"HIT": {"HITId": "3", "CreationTime": created, "Title": None}})
    assert json.loads(reply) == {"HIT": {"HITId": "3", "CreationTime": 1795176000.123}}


@pytest.mark.parametrize(
    "hit", [{"HITStatus": "BOGUS"}, {"HITId": "lower"}, {"Extra": 1}, {"MaxAssignments": "3"}]
)
def test_a_reply_outside_the_model_is_our_fault(hit: dict[str, Any]) -> None:
    with pytest.raises(ServiceFault):
        dump_reply("GetHIT", {"HIT": hit})
