"""Tables as CSV and drawings: the numbers unrounded, intervals where items are counted."""

import csv
import io
from pathlib import Path
from xml.etree import ElementTree

import pytest
from scipy.stats import binomtest

from annotation.dashboard.releases.report import drawn
from annotation.metrics.result import ScoreError
from annotation.reports.charts import as_csv, as_svg, chart_of, files_of, links_to, write_files
from annotation.reports.table import Table, share

TYPES = Table(
    "types",
    "Types of <answers>",
    ["type", "questions", "share"],
    [["none", 30, share(30, 100)], ["=span", 70, share(70, 100)]],
    simulated="With simulated work: all of it.",
)
SCORES = Table("scores", "Scores", ["split", "EM share", "F1 share"], [["dev", share(1, 4), 0.5]])


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_a_table_as_csv_has_intervals_beside_what_is_counted() -> None:
    none, span = read(as_csv(TYPES))
    expected = binomtest(30, 100).proportion_ci(method="wilson")
    assert float(none["share"]) == 0.3
    assert float(none["share low"]) == pytest.approx(expected.low)
    assert float(none["share high"]) == pytest.approx(expected.high)
    assert none["share of"] == "100"
    assert span["type"] == "'=span"
    (dev,) = read(as_csv(SCORES))
    assert list(dev) == [
        "split",
        "EM share",
        *(f"EM share {end}" for end in ("low", "high", "of")),
        "F1 share",
    ]


def test_shares_are_drawn_with_their_intervals() -> None:
    root = ElementTree.fromstring(as_svg(TYPES))
    texts = [element.text or "" for element in root.iter() if element.text]
    assert "Types of <answers>" in texts
    assert "30.0 % (21.9 – 39.6)" in texts
    assert "With simulated work: all of it." in texts
    chart = chart_of(SCORES)
    assert chart
    counted, averaged = chart.rows[0].bars
    assert counted.low is not None
    assert averaged.low is averaged.high is None
    assert averaged.words == "50.0 %"


@pytest.mark.parametrize("table", [TYPES, Table("types", "T", ["type", "share"], [["dev", None]])])
def test_a_drawing_is_linked_to_wherever_there_is_one_and_nowhere_else(table: Table) -> None:
    names = {name for name, _ in files_of([table])}
    assert {name for name in ("types.csv", "types.svg") if name in links_to(table)} == names
    assert drawn(table)["has_chart"] == ("types.svg" in names)


def test_what_has_no_shares_is_not_drawn_and_what_has_no_rows_is_no_file() -> None:
    sizes = Table("size", "Size", ["measure", "all"], [["questions", 7]])
    shades = Table("map", "Map", ["label", "a", "b"], [["x", 0.5, 0.5]], shaded_from=1)
    empty = Table("empty", "Empty", ["type", "share"], [])
    names = [name for name, _ in files_of([sizes, shades, empty, TYPES])]
    assert names == ["size.csv", "map.csv", "types.csv", "types.svg"]


def test_files_are_written_once(tmp_path: Path) -> None:
    paths = write_files([TYPES], tmp_path / "report")
    assert [path.name for path in paths] == ["types.csv", "types.svg"]
    with pytest.raises(ScoreError, match="is there already: name a new folder"):
        write_files([TYPES], tmp_path / "report")
    (tmp_path / "file").write_text("")
    with pytest.raises(ScoreError, match="it cannot be written"):
        write_files([TYPES], tmp_path / "file" / "report")
