"""Every operation, called through boto3 with inputs made from the model and live ids."""

import datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError, ParamValidationError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import marketplace.operations  # noqa: F401  (importing the package registers them)
from marketplace.models import Assignment, Worker
from marketplace.tests.conftest import QUESTION
from marketplace.tests.forms import KEY, TEST
from marketplace.tests.test_html_question import question
from marketplace.tests.visitor import Visitor
from marketplace.wire.calls import OPERATIONS
from marketplace.wire.shapes import service_model

NOT_DONE = {"GetFileUploadURL"}
ALLOWED = {"RequestError", "ParameterValidationError", "SerializationException"}
AMOUNTS = st.sampled_from(["0.00", "0.01", "1", "1.", "2.50", "9999.99", "123456789", "1.234"])
NUMBERS = st.one_of(
    st.integers(min_value=-2, max_value=40),
    st.sampled_from([0, 29, 30, 3600, 86400, 2**31 - 1, 2**31, 2**63 - 1, -(2**40)]),
)
XML = {
    "Question": [QUESTION, question()],
    "Test": [TEST, TEST + "x"],
    "AnswerKey": [KEY, KEY.replace("sum", "som")],
}
TIMES = st.datetimes(datetime.datetime(1970, 1, 1), datetime.datetime(2100, 1, 1))


def values_for(shape: Any, name: str, live: dict[str, list[str]]) -> st.SearchStrategy[Any]:
    """Return a strategy for one member of the model, live ids among its values."""
    if name in live:
        return st.sampled_from([*live[name], "A1", "3NOSUCH"])
    if name in XML:
        return st.sampled_from([*XML[name], "<x/>", "", "<!DOCTYPE a>"])
    if name == "Destination":
        return st.sampled_from(["https://listener.example/", "https://[::1]/", "arn:x", "http://["])
    if name == "Version":
        return st.sampled_from(["2014-08-15", "1"])
    if name in ("Reward", "BonusAmount"):
        return AMOUNTS
    if shape.type_name == "structure":
        return structure(shape, live)
    if shape.type_name == "list":
        return st.lists(values_for(shape.member, name.rstrip("s"), live), max_size=3)
    if shape.type_name == "string":
        choices = st.sampled_from(shape.enum) if shape.enum else st.nothing()
        return choices | st.text(max_size=40) | st.just("x" * 300)
    kinds = {"boolean": st.booleans(), "timestamp": TIMES}
    return kinds.get(shape.type_name, NUMBERS)


def structure(shape: Any, live: dict[str, list[str]]) -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy for a structure: required members always, the others sometimes."""
    members = {name: values_for(inner, name, live) for name, inner in shape.members.items()}
    required = {name: members[name] for name in shape.required_members}
    return st.fixed_dictionaries(
        required, optional={name: one for name, one in members.items() if name not in required}
    )


@pytest.fixture
def live(rita: Any, ada: Visitor, grace: Visitor, make_hit: Any) -> dict[str, list[str]]:
    """Ids of things that exist, in several states."""
    made = rita.create_qualification_type(
        Name="W", Description="d", QualificationTypeStatus="Active"
    )
    type_id = made["QualificationType"]["QualificationTypeId"]
    hits = [make_hit(rita, MaxAssignments=n + 2, RequesterAnnotation=str(n)) for n in range(3)]
    for hit in hits[:2]:
        ada.submit(hit)
    ada.accept(hits[2])
    grace.post("/qualifications/", f"/qualifications/{type_id}/ask/")
    [request] = rita.list_qualification_requests()["QualificationRequests"]
    token = rita.list_hits(MaxResults=1)["NextToken"]
    return {
        "NextToken": [token, token[:-4]],
        "HITId": [hit["HITId"] for hit in hits],
        "HITTypeId": [hits[0]["HITTypeId"]],
        "AssignmentId": list(Assignment.objects.values_list("assignment_id", flat=True)),
        "WorkerId": list(Worker.objects.values_list("worker_id", flat=True)),
        "QualificationTypeId": [type_id, "00000000000000000071", "00000000000000000060"],
        "QualificationRequestId": [request["QualificationRequestId"]],
    }


def test_the_model_holds_nothing_we_forgot() -> None:
    assert set(service_model().operation_names) == set(OPERATIONS) | NOT_DONE


@settings(
    max_examples=250,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_no_input_gets_a_fault_or_an_answer_outside_the_model(
    rita: Any, live: dict[str, list[str]], data: st.DataObject
) -> None:
    model = service_model()
    name = data.draw(st.sampled_from(sorted(model.operation_names)))
    parameters = data.draw(structure(model.operation_model(name).input_shape, live))
    refusal: dict[str, Any] = {"Error": {"Code": "RequestError"}}
    try:
        rita._make_api_call(name, parameters)
    except ParamValidationError:
        return
    except ClientError as error:
        refusal = error.response
    assert refusal["Error"]["Code"] in ALLOWED, refusal
