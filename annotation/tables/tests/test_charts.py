"""Tables as CSV and drawings: the numbers unrounded, intervals where items are counted."""

import csv
import io
import random
from collections import Counter
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import pytest
from scipy.stats import binomtest

from annotation.dashboard.report_views import drawn
from annotation.metrics.result import ScoreError
from annotation.tables.charts import (
    as_csv,
    as_svg,
    chart_of,
    files_of,
    interval,
    links_to,
    write_files,
)
from annotation.tables.table import PerItem, Table, share, share_of_items

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


def equal_pairs(n_items: int, rng: random.Random) -> PerItem:
    """Return the share of equal pairs of four annotators, who agree where a question is easy."""
    items: Counter[tuple[int, int]] = Counter()
    for _ in range(n_items):
        is_easy = rng.random() < 0.7
        said = [1 if is_easy else rng.randrange(3) for _ in range(4)]
        items[sum(one == other for one, other in combinations(said, 2)), 6] += 1
    found = share_of_items(items)
    assert isinstance(found, PerItem)
    return found


def test_the_interval_of_equal_pairs_holds_the_truth_as_often_as_it_says() -> None:
    truth = 0.7 + 0.3 / 3
    drawn = [equal_pairs(100, random.Random(seed)) for seed in range(200)]
    ends = [interval(each) for each in drawn]
    assert sum(low <= truth <= high for low, high in ends) >= 180
    # As many independent pairs would have had: it is the pairs' own that is too narrow.
    alone = [interval(share(round(each * each.whole), each.whole)) for each in drawn]  # type: ignore[arg-type]
    assert sum(low <= truth <= high for low, high in alone) < 160
    assert interval(drawn[0]) == interval(drawn[0])


def test_items_that_all_agree_have_the_interval_of_so_many_items() -> None:
    whole = share_of_items({(6, 6): 2})
    assert whole == 1.0
    assert interval(whole) == interval(share(2, 2))  # type: ignore[arg-type]
    assert interval(share_of_items({(1, 1): 30, (0, 1): 70})) == interval(share(30, 100))  # type: ignore[arg-type]
    assert interval(share_of_items({(3, 6): 20})) == interval(share(10, 20))  # type: ignore[arg-type]
    assert share_of_items({}) is share_of_items({(0, 0): 3}) is None


def test_a_drawing_says_which_intervals_are_by_items() -> None:
    rows = [["dev", share_of_items({(6, 6): 20, (3, 6): 10})]]
    chart = chart_of(Table("pairs", "Pairs", ["split", "equal pairs share"], rows))
    assert chart
    assert chart.note == (
        "Lines: 95 % intervals (Wilson; of several votes on an item, bootstrap over items)."
    )


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
