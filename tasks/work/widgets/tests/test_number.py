"""A number and its unit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.work.widgets import number
from tasks.work.widgets.tests.junk import are_sentences, values


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("12", "12"),
        (" 1,250 ", "1250"),
        ("1 250 000", "1250000"),
        ("1\u202f250.5", "1250.5"),
        ("-3.50", "-3.50"),
        ("\u22127", "-7"),
        ("+4", "4"),
        (".5", "0.5"),
        ("007", "7"),
        ("١٢٣", "123"),
        ("१९१६", "1916"),
        ("", ""),
    ],
)
def test_it_reads_numbers_as_people_write_them(typed: str, value: str) -> None:
    assert number.clean(typed, "years") == ({"value": value, "unit": "years"}, [])


@pytest.mark.parametrize("typed", ["twelve", "3,5", "1,25", "12 years", "1e5", "--1", ".", "²", 12])
def test_it_asks_again_for_anything_else(typed: object) -> None:
    _, [problem] = number.clean(typed, "")
    assert problem.field == "value"


def test_it_keeps_what_it_cannot_read() -> None:
    assert number.clean("about 12", "")[0]["value"] == "about 12"


@given(values, values)
def test_it_never_raises_on_junk(raw_value: object, raw_unit: object) -> None:
    quantity, problems = number.clean(raw_value, raw_unit)
    assert all(isinstance(part, str) for part in quantity.values())
    assert are_sentences(problems)


@given(st.integers(-(10**20), 10**20))
def test_it_reads_every_whole_number_with_and_without_commas(whole: int) -> None:
    for typed in (str(whole), f"{whole:,}"):
        assert number.clean(typed, "")[0]["value"] == str(whole)
