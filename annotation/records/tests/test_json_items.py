"""A long list in JSON is read item by item, and as `json.loads` reads it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.records.json_items import Items, load

pytestmark = pytest.mark.pure
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=12,
)
layouts = st.lists(values) | st.dictionaries(st.sampled_from(["data", "version", "{"]), values)


@given(layouts, st.sampled_from([None, 1]), st.booleans())
def test_it_is_read_as_json_reads_it(value: object, indent: int | None, in_ascii: bool) -> None:
    content = json.dumps(value, indent=indent, ensure_ascii=in_ascii).encode()
    found = load(content)
    if isinstance(found, dict) and isinstance(found.get("data"), Items):
        found["data"] = list(found["data"])
    assert (list(found) if isinstance(found, Items) else found) == value


@given(st.lists(values, min_size=1))
def test_items_are_those_of_a_list(value: list[object]) -> None:
    items = load(json.dumps({"version": "1", "data": value}).encode())["data"]
    assert isinstance(items, Items)
    assert (len(items), items[0], items[-1], items[1:]) == (
        *(len(value), value[0], value[-1]),
        value[1:],
    )


@pytest.mark.parametrize(
    "content",
    ["[1,", "[1,]", "[1 2]", "[}", '{"data": [1], }', '["a', "[1] 2", "", '{"data": [,]}'],
)
def test_what_is_no_json_is_refused_as_json_does(content: str) -> None:
    with pytest.raises(ValueError) as expected:
        json.loads(content)
    with pytest.raises(ValueError) as told:
        load(content.encode())
    assert str(told.value) == str(expected.value)
    with pytest.raises(IndexError):
        load(b"[1]")[1]
