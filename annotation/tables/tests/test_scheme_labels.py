"""Rows labelled by hand are read and counted by a scheme."""

from pathlib import Path

import pytest

from annotation.metrics.result import ScoreError
from annotation.tables.labels import tables_of
from collector.protocols.stage_tables import SchemeTable, read_scheme

pytestmark = pytest.mark.pure


@pytest.fixture
def scheme(tmp_path: Path) -> SchemeTable:
    path = tmp_path / "errors.toml"
    path.write_text(
        'title = "Errors"\nsource = "ours"\n'
        '[[fields]]\nname = "error"\nlabel = "What is wrong?"\n'
        'choices = [{ value = "link", hint = "none was followed" },\n'
        ' { value = "Model", hint = "it failed" }]\n'
        '[[fields]]\nname = "note"\nlabel = "Note"\nrequired = false\n'
    )
    return read_scheme(path)


def test_each_label_is_counted_whatever_its_case_and_notes_are_not(scheme: SchemeTable) -> None:
    rows = [
        {"error": " LINK "},
        {"error": "model", "note": "odd"},
        {"error": "link"},
        {"error": ""},
    ]
    (table,) = tables_of(rows, scheme)

    assert [list(row) for row in table.rows] == [
        ["", "link: none was followed", 2, 2 / 3],
        ["", "Model: it failed", 1, 1 / 3],
    ]
    assert "3 rows are labelled, 1 wait" in table.note


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"error": "typo"}, "Row 2: error must be one of link, Model, not 'typo'"),
        ({"kind": "link"}, "Row 2: there is no column error; keep those of the sample"),
    ],
)
def test_a_label_or_a_column_that_is_none_is_refused_by_its_row(
    scheme: SchemeTable, row: dict[str, str], said: str
) -> None:
    with pytest.raises(ScoreError, match=said):
        tables_of([{"error": "link"}, row], scheme)


def test_groups_are_counted_and_a_flow_leads_from_the_first_facet_to_the_last(
    tmp_path: Path,
) -> None:
    path = tmp_path / "types.toml"
    path.write_text(
        'title = "Types"\nsource = "ours"\n'
        '[[fields]]\nname = "asks"\nlabel = "What is asked?"\ngroups = "kind"\n'
        'choices = [{ value = "who", group = "thing", hint = "one" },\n'
        ' { value = "why", group = "event", hint = "two" }]\n'
        '[[fields]]\nname = "answer"\nlabel = "What is the answer?"\n'
        'choices = [{ value = "name", hint = "a" }, { value = "deed", hint = "b" }]\n'
    )
    rows = [{"asks": "who", "answer": "name"}] * 2 + [{"asks": "why", "answer": "deed"}]

    found = {table.name: table for table in tables_of(rows, read_scheme(path))}

    assert list(found) == ["asks", "kind", "answer", "flow_asks_answer"]
    assert [list(row) for row in found["kind"].rows] == [["thing", 2, 2 / 3], ["event", 1, 1 / 3]]
    flow = found["flow_asks_answer"]
    assert [list(row) for row in flow.rows] == [["who", 2, 1.0, 0.0], ["why", 1, 0.0, 1.0]]
    assert flow.flow is not None
    assert [band.words for band in flow.flow.bands] == [
        "who → name: 2, 100 % of its items",
        "why → deed: 1, 100 % of its items",
    ]
