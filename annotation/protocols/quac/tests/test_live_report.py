"""A collection talked through here has the report that its released files have."""

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from annotation.protocols.quac.baselines import HUMAN
from annotation.protocols.quac.baselines import run as run_baseline
from annotation.protocols.quac.scoring import read_gold, score
from annotation.protocols.quac.tests import test_whole_way as whole_way
from annotation.protocols.quac.tests.test_report import made, rows
from annotation.protocols.quac.turns import human_f1, read_labels
from collector.models import Collection
from tests.page_workers import run

pytestmark = pytest.mark.django_db
collection, talked = whole_way.collection, whole_way.talked
FILES = ("train_v0.2.json", "val_v0.2.json", "test_v0.2.json")


def test_the_report_of_rows_is_that_of_the_released_files(
    talked: Collection, tmp_path: Path
) -> None:
    whole_way.validate(talked)
    whole_way.release(talked, tmp_path / "out")
    shown: dict[str, Any] = run("report", "talks")
    files = {name: tmp_path / "out" / name for name in FILES}
    for name, table in made(files).items():
        if name != "people":
            # Dialogs come in another order in the files, so sums end in other last digits.
            for row, expected in zip(shown[name]["rows"], table.rows, strict=True):
                assert row[0] == expected[0]
                assert row[1:] == pytest.approx(list(expected[1:])), name
    people = {row[0]: row[1:] for row in shown["people"]["rows"]}
    in_files = rows(made(files)["people"])
    for name in ("human F1 %", "teachers' F1 %", "validators' F1 %"):
        assert people[name] == pytest.approx(in_files[name]), name
    # The files have the teacher's label alone; the rows have everybody's.
    assert in_files["% of pairs equal on yes or no"] == [None] * 3
    said = read_labels(tmp_path / "out" / "votes.parquet")["yes/no"]
    equal = [
        one == other
        for name in FILES[1:]
        for each in read_gold(files[name])
        if human_f1(each.references) >= 0.4
        for one, other in combinations(said[each.qid], 2)
    ]
    assert len(equal) >= 10
    share = 100 * sum(equal) / len(equal)
    assert people["% of pairs equal on yes or no"][-1] == pytest.approx(share)


def test_predictions_for_a_released_file_are_those_of_the_collection(
    talked: Collection, tmp_path: Path
) -> None:
    whole_way.validate(talked)
    whole_way.release(talked, tmp_path / "out")
    gold, predictions = tmp_path / "out" / "test_v0.2.json", tmp_path / "predictions.jsonl"
    run_baseline("majority", predictions, gold, {"train": tmp_path / "out" / "train_v0.2.json"})
    shown = run("report", "talks", predictions=predictions)
    found = {row[0]: row[1] for row in shown["scores"]["rows"]}
    result = score(predictions, gold, {"votes": tmp_path / "out" / "votes.parquet"})
    official = result["official"]
    assert found["F1"] == pytest.approx(official["f1"])
    assert found["HEQ-Q"] == pytest.approx(official["HEQ"])
    assert found["yes/no by majority"] == pytest.approx(result["beside"]["yes/no, majority"])
    people = tmp_path / "people.jsonl"
    human = run_baseline(HUMAN, people, gold, {"votes": tmp_path / "out" / "votes.parquet"})
    assert human["rows"][-1] == ["yes/no, people", f"{human['beside']['yes/no, people']:.1f}"]
    table = run("report", "talks")["people"]
    told = {row[0]: row[1:] for row in table["rows"]}
    agreement = told["% of people with the others' majority on yes or no"]
    assert agreement[table["columns"].index("test") - 1] == pytest.approx(
        human["beside"]["yes/no, people"]
    )
    assert "4 questions of test" in shown["scores"]["note"]
    assert len(json.loads(predictions.read_text())["qid"]) == 4
