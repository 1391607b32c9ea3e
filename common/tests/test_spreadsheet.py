"""What strangers wrote is no formula in a spreadsheet, and comes back as they wrote it."""

import csv
import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from common.spreadsheet import csv_lines, csv_text, plain_cell, read_table, typed_cell

pytestmark = pytest.mark.pure
SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＠")


@pytest.mark.parametrize("sign", SIGNS)
def test_no_cell_and_no_head_begins_like_a_formula(sign: str) -> None:
    text = csv_text([[f"{sign}HEAD()", 1], [f"{sign}cmd|' /C calc'!A0", None]])
    table = list(csv.reader(io.StringIO(text, newline="")))
    assert [row[0][:2] for row in table] == [f"'{sign}", f"'{sign}"]
    assert [row[1] for row in table] == ["1", ""]


def test_numbers_stay_numbers() -> None:
    for number in ("-1", "+2", "-12.50", "-1,000.00", "+3.5%"):
        assert plain_cell(number) == number
    assert plain_cell("-1+cmd") == "'-1+cmd"


@given(some.text(alphabet="'=+-@\t1aé ", max_size=6))
def test_every_cell_comes_back(text: str) -> None:
    assert typed_cell(plain_cell(text)) == text


def test_a_file_that_others_wrote_keeps_its_apostrophes() -> None:
    text = csv_text([["text"], ["=B2 is a formula"], ["'-20 is a year"]])
    told = [cell["text"] for _, cell in read_table(text, is_ours=True).lines]
    assert told == ["=B2 is a formula", "'-20 is a year"]
    others = "text\n'=B2 is quoted\n=B2 is not\n'-20\n"
    told = [cell["text"] for _, cell in read_table(others).lines]
    assert told == ["'=B2 is quoted", "=B2 is not", "'-20"]


def test_an_official_file_holds_what_was_written() -> None:
    assert list(csv_lines([["=HEAD()", "-1+cmd", None]], verbatim=True)) == ["=HEAD(),-1+cmd,\r\n"]


def test_lines_end_as_asked() -> None:
    assert list(csv_lines([["a", "b"], ["c,d", ""]], end="\n")) == ["a,b\n", '"c,d",\n']


def test_every_csv_has_this_one_writer() -> None:
    root = Path(__file__).parents[2]
    rooms = ("common", "collector", "tasks", "annotation", "readers", "marketplace")
    writers = [
        path.relative_to(root)
        for room in rooms
        for path in (root / room).rglob("*.py")
        if "tests" not in path.parts and re.search(r"csv\.(writer|DictWriter)", path.read_text())
    ]
    assert writers == [Path("common/spreadsheet.py")]
