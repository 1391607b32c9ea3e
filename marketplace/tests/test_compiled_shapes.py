"""The compiled checks refuse all that botocore's own validator refuses, and keep what is right."""

from typing import Any

import pytest
from botocore.validate import ParamValidator
from hypothesis import given, settings
from hypothesis import strategies as st

from marketplace.wire.compiled_shapes import Check, Columns, MismatchError, Times, compiled
from marketplace.wire.shapes import service_model

pytestmark = pytest.mark.pure

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
    check = compiled(shape, "input", Times(epoch))
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
    check = compiled(MODEL.operation_model("GetHIT").input_shape, "input", Times(epoch))
    with pytest.raises(MismatchError, match=words):
        check(value)


LISTS = [
    inner
    for shape in SHAPES
    for inner in shape.members.values()
    if inner.type_name == "list" and inner.member.type_name == "structure"
]
# For each kind of value some that a column may hold, and some that it hardly may.
ALIKE: dict[str, list[Any]] = {
    "string": ["A1", "A2", "1.50", "DE", "In", "Active", "lower", "", "3\n3", "\x00", "\ud800", 7],
    "integer": [0, 1, 100, -1, 2**31, True, "1"],
    "long": [0, 1, 2**62, 2**63, 1.0],
    "boolean": [True, False, 1, "true"],
    "timestamp": [0, 1795694691091, True, "now"],
}


@st.composite
def columns_near(draw: Any, shape: Any) -> tuple[dict[str, list[Any]], list[dict[str, Any]]]:
    """Return columns of a few rows, most of them of values of the right kind, and what is begun."""
    n_rows = draw(st.integers(1, 4))
    columns = {}
    for name, inner in shape.members.items():
        alike = st.sampled_from(ALIKE.get(inner.type_name, [[], {}, 1]))
        usual = st.sampled_from([draw(alike), draw(alike)])
        rows = st.lists(draw(st.sampled_from([usual, st.none() | usual])), min_size=n_rows)
        if draw(st.booleans()) or name in shape.required_members:
            columns[name] = draw(rows)[:n_rows]
    if draw(st.integers(0, 9)) == 9:
        columns["Unknown"] = [1] * n_rows
    moved = draw(st.sampled_from([*columns, ""]))
    parts = [{moved: value} for value in columns.pop(moved)] if moved else [{}] * n_rows
    return columns, parts


def verdict(check: Check, value: Any) -> Any:
    try:
        return check(value)
    except MismatchError:
        return "refused"


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.data())
def test_columns_are_judged_like_the_rows_they_stand_for(data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from(LISTS))
    columns, parts = data.draw(columns_near(shape.member))
    rows = [
        {**part, **{name: values[n] for name, values in columns.items()}}
        for n, part in enumerate(parts)
    ]
    at_once = Times(epoch, lambda values: [*values] if set(map(type, values)) == {int} else None)
    check = compiled(shape, "rows", at_once)
    assert verdict(check, Columns(columns.items(), parts)) == verdict(check, rows)


def test_columns_are_checked_like_the_structures_they_stand_for() -> None:
    shape = MODEL.operation_model("ListBonusPayments").output_shape.members["BonusPayments"]
    check = compiled(shape, "BonusPayments", Times(epoch))

    def columns(*begun: dict[str, Any], **members: list[Any]) -> Columns:
        return Columns(members.items(), begun or [{}] * len(next(iter(members.values()), ())))

    found = check(columns(WorkerId=["A1", "A2"], Reason=[None, "thanks"]))
    assert found == [{"WorkerId": "A1"}, {"WorkerId": "A2", "Reason": "thanks"}]
    shared = {"BonusAmount": "1.00"}
    assert check(columns(shared, shared, WorkerId=["A1", "A2"]))[1] == shared | {"WorkerId": "A2"}
    assert check(columns()) == []
    with pytest.raises(MismatchError, match='The value "B" is not valid'):
        check(columns(WorkerId=["A1", "B"]))
    with pytest.raises(MismatchError, match='The value "1,00" is not valid'):
        check(columns({"BonusAmount": "1,00"}))
    with pytest.raises(MismatchError, match=r"Unknown parameter 'No' in BonusPayments."):
        check(columns(WorkerId=["A1"], No=[1]))


def test_columns_lack_nothing_that_is_required() -> None:
    shape = MODEL.operation_model("CreateHIT").input_shape.members["QualificationRequirements"]
    check = compiled(shape, "QualificationRequirements", Times(epoch))
    need: dict[str, list[Any]] = {
        "QualificationTypeId": ["3A", "3B"],
        "Comparator": ["Exists", None],
    }
    with pytest.raises(MismatchError, match=r"Missing required parameter in .*: Comparator."):
        check(Columns(need.items(), [{}, {}]))
