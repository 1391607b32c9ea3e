"""The compiled checks refuse all that botocore's own validator refuses, and keep what is right."""

from typing import Any

import pytest
from botocore.validate import ParamValidator
from hypothesis import given, settings
from hypothesis import strategies as st

from marketplace.wire.compiled import Columns, MismatchError, compiled
from marketplace.wire.shapes import service_model

MODEL = service_model()
SHAPES = [
    shape
    for name in MODEL.operation_names
    for operation in [MODEL.operation_model(name)]
    for shape in (operation.input_shape, operation.output_shape)
    if shape is not None
]
ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 200)
    | st.floats(allow_nan=False)
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


def without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_none(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [without_none(inner) for inner in value]
    return value


def epoch(value: Any) -> int:
    if type(value) is not int:
        raise MismatchError("This test knows times as whole numbers.")
    return value


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.data())
def test_what_botocore_refuses_is_refused_here(data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from(SHAPES))
    value = data.draw(value_near(shape))
    check = compiled(shape, "input", epoch)
    try:
        copy = check(value)
    except MismatchError:
        return
    assert copy == without_none(value)
    report = ParamValidator().validate(copy, shape)
    assert not report.has_errors(), report.generate_report()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({}, "Missing required parameter in input: HITId."),
        ({"HITId": "3", "No": 1}, "Unknown parameter 'No' in input."),
        ({"HITId": "low"}, 'The value "low" is not valid for the parameter HITId.'),
    ],
)
def test_a_refusal_says_where(value: dict[str, Any], words: str) -> None:
    check = compiled(MODEL.operation_model("GetHIT").input_shape, "input", lambda time: time)
    with pytest.raises(MismatchError, match=words):
        check(value)


def test_columns_are_checked_like_the_structures_they_stand_for() -> None:
    shape = MODEL.operation_model("ListBonusPayments").output_shape.members["BonusPayments"]
    check = compiled(shape, "BonusPayments", lambda time: time)
    columns = Columns(WorkerId=["A1", "A2"], Reason=[None, "thanks"])
    assert check(columns) == [{"WorkerId": "A1"}, {"WorkerId": "A2", "Reason": "thanks"}]
    assert check(Columns()) == []
    with pytest.raises(MismatchError, match='The value "B" is not valid'):
        check(Columns(WorkerId=["A1", "B"]))
    with pytest.raises(MismatchError, match=r"Unknown parameter 'No' in BonusPayments."):
        check(Columns(WorkerId=["A1"], No=[1]))


def test_columns_lack_nothing_that_is_required() -> None:
    shape = MODEL.operation_model("CreateHIT").input_shape.members["QualificationRequirements"]
    check = compiled(shape, "QualificationRequirements", lambda time: time)
    with pytest.raises(MismatchError, match=r"Missing required parameter in .*: Comparator."):
        check(Columns(QualificationTypeId=["3A", "3B"], Comparator=["Exists", None]))
