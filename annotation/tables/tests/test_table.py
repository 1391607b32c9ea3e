"""Cells are read the same wherever a table is drawn."""

from copy import deepcopy

from annotation.tables.table import (
    PerItem,
    Proportion,
    Table,
    markdown,
    share,
    share_of_items,
    text,
)
from annotation.tables.terminal import table_lines

TABLE = Table(
    "types", "Types", ["type", "questions", "share"], [["a|b", 1234, 0.5], ["c", 0, None]], "So."
)


def test_cells_are_texts_by_their_kind_and_column() -> None:
    assert text(0.295, "share") == "29.5 %"
    assert text(14.5, "links per passage") == "14.50"
    assert text(13441) == "13,441"
    assert text(None) == "–"
    assert TABLE.texts() == [["a|b", "1,234", "50.0 %"], ["c", "0", "–"]]


def test_a_table_is_drawn_as_markdown_and_for_terminals() -> None:
    assert markdown(TABLE) == (
        "### Types\n\n| type | questions | share |\n| --- | ---: | ---: |\n"
        "| a\\|b | 1,234 | 50.0 % |\n| c | 0 | – |\n\nSo.\n"
    )
    seen = table_lines(
        [TABLE, Table("none", "Empty", ["x"], [], "Nothing [yet].")], in_colour=False
    )
    assert "1,234" in seen
    assert "Nothing [yet]." in seen


def test_plain_data_keeps_numbers_as_they_are() -> None:
    assert TABLE.plain()["rows"] == [["a|b", 1234, 0.5], ["c", 0, None]]


def test_a_map_shows_whole_per_cents_and_nothing_where_there_is_none() -> None:
    shaded = Table("map", "Map", ["row", "n", "1", "2"], [["a", 3, 1 / 3, 0.0]], shaded_from=2)
    assert shaded.texts() == [["a", "3", "33", ""]]
    assert [shaded.is_share(at) for at in range(4)] == [False, False, True, True]
    assert [TABLE.is_share(at) for at in range(3)] == [False, False, True]
    assert shaded.plain()["rows"] == [["a", 3, 1 / 3, 0.0]]


def test_a_wide_table_breaks_its_heads_and_never_its_numbers() -> None:
    columns = ["ranker", *(f"a head of many words {number}" for number in range(9))]
    row = ["Upperbound", *("15.4–50.0" for _ in range(9))]
    lines = table_lines([Table("t", "A table", columns, [row])], in_colour=False).splitlines()
    assert max(map(len, lines)) < 125
    (found,) = (line for line in lines if "Upperbound" in line)
    assert found.count("15.4–50.0") == 9


def test_no_word_is_cut_beside_columns_of_prose() -> None:
    columns = ["prose", "description", *(f"book attribute {number}" for number in range(8))]
    row = ["some words and more of them " * 4, "", *("12" for _ in range(8))]
    seen = table_lines([Table("t", "A table", columns, [row])], in_colour=False)
    assert "…" not in seen
    assert "description" in seen


def test_a_share_is_one_still_when_it_is_copied() -> None:
    third = share(1, 3)
    copied = deepcopy(third)
    assert isinstance(copied, Proportion)
    assert (copied, copied.whole) == (third, 3)
    pairs = deepcopy(share_of_items({(1, 3): 2}))
    assert isinstance(pairs, PerItem)
    assert (pairs, pairs.items) == (third, {(1, 3): 2})
