"""Requests and replies against botocore's own model, both ways."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.validate import ParamValidator
from hypothesis import given, settings
from hypothesis import strategies as st

from marketplace.tests.boto import check_reply
from marketplace.wire.calls import WireError
from marketplace.wire.shapes import dump_reply, load_request, service_model

pytestmark = pytest.mark.pure

HIT_TYPE = {
    "AssignmentDurationInSeconds": 60,
    "Reward": "0.10",
    "Title": "t",
    "Description": "d",
}
ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 200)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["A1", "3X", "1.50", "US", "In", "Active", "lower", "", "x" * 70]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)


def value_near(shape: Any) -> st.SearchStrategy[Any]:
    """Return values that look like the shape, with something else here and there."""
    if shape.type_name == "structure":
        members = {name: value_near(inner) for name, inner in shape.members.items()}
        required = {name: members.pop(name) for name in shape.required_members}
        return ANYTHING | st.fixed_dictionaries(required, optional=members)
    if shape.type_name == "list":
        return ANYTHING | st.lists(value_near(shape.member), max_size=2)
    return ANYTHING


def load(operation: str, **members: Any) -> dict[str, Any]:
    return load_request(operation, json.dumps(members).encode())


def need(**changes: Any) -> list[dict[str, Any]]:
    return [{"QualificationTypeId": "3Q", "Comparator": "Exists"} | changes]


@pytest.mark.parametrize(
    ("operation", "members"),
    [
        ("CreateHITType", HIT_TYPE | {"Reward": "1.234"}),
        ("CreateHITType", HIT_TYPE | {"Reward": "-1"}),
        ("CreateHITType", HIT_TYPE | {"Reward": "."}),
        ("CreateWorkerBlock", {"WorkerId": "A1", "Reason": "r" * 4097}),
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
    reply = dump_reply({"HIT": {"HITId": "3", "CreationTime": created, "Title": None}})
    assert json.loads(reply) == {"HIT": {"HITId": "3", "CreationTime": 1795176000.123}}


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({}, "Missing required parameter in input: HITId."),
        ({"HITId": "3", "No": 1}, "Unknown parameter 'No' in input."),
        ({"HITId": "low"}, 'The value "low" is not valid for the parameter HITId.'),
        ({"HITId": "\ud800"}, "The value \"'\\ud800'\" is not valid for the parameter HITId."),
    ],
)
def test_a_refusal_says_where(members: dict[str, Any], words: str) -> None:
    with pytest.raises(WireError) as error:
        load("GetHIT", **members)
    assert error.value.message == words


@pytest.mark.parametrize(
    "hit", [{"HITStatus": "BOGUS"}, {"HITId": "lower"}, {"Extra": 1}, {"MaxAssignments": "3"}]
)
def test_a_reply_outside_the_model_fails_every_test_that_gets_it(hit: dict[str, Any]) -> None:
    with pytest.raises(WireError):
        check_reply("GetHIT", dump_reply({"HIT": hit}))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.data())
def test_what_botocore_refuses_is_refused_here(data: st.DataObject) -> None:
    model = service_model()
    name = data.draw(st.sampled_from(sorted(model.operation_names)))
    shape = model.operation_model(name).input_shape
    body = json.dumps(data.draw(value_near(shape))).encode()
    try:
        parameters = load_request(name, body)
    except WireError:
        return
    assert not ParamValidator().validate(parameters, shape).has_errors()
