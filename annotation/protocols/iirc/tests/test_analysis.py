"""Questions about time, hand labels, and how a system's predictions do."""

import json
import random
from pathlib import Path

import pytest

from annotation.metrics.result import ScoreError
from annotation.protocols.iirc.report import counted, labelled, opening_of, sample
from annotation.protocols.iirc.tests.island import island
from annotation.reports.collection import identified, tables_of, tables_of_predictions
from annotation.tables.table import Table
from collector.protocols.creation import parameters_of

pytestmark = pytest.mark.django_db


def by_name(tables: list[Table]) -> dict[str, dict[object, list[object]]]:
    """Return each table as its first cells with the rest of their rows."""
    return {table.name: {row[0]: list(row[1:]) for row in table.rows} for table in tables}


@pytest.mark.parametrize(
    ("question", "opening"),
    [
        ("How old was the keeper when she died?", "how old"),
        ("How many more years did the light burn?", "how many years"),
        ("How long did the ferry take?", "how long"),
        ("When was it founded?", "when"),
        ("In what year was it founded?", "what year"),
        ("“Which month is the fair held?”", "what year"),
        ("How many people live there?", ""),
        ("Who was mayor when it was founded?", ""),
        ("What whenever means?", ""),
    ],
)
def test_a_question_is_about_time_by_how_it_begins(question: str, opening: str) -> None:
    assert opening_of(question) == opening


def test_the_report_says_how_many_questions_are_about_time() -> None:
    found = by_name(tables_of(island()))["time"]
    assert found["all about time"] == [1, 0.2]
    assert found["when"] == [1, 0.2]


def test_predictions_are_scored_by_split_links_and_type_of_answer(tmp_path: Path) -> None:
    collection, path = island(), tmp_path / "predictions.json"
    ids = {
        question["text"]: question["id"]
        for seed in identified(collection)
        for question in seed["questions"]
    }
    given = {
        ids["Which of both was founded in 1702?"]: ["1702", "Port Ellan"],
        ids["Who built the school?"]: "none",
        ids["When was the keeper of the light born?"]: "none",
    }
    path.write_text(json.dumps(given))
    found = by_name(tables_of_predictions(collection, path))
    assert found["scores"] == {
        "all": [3, pytest.approx(200 / 3), pytest.approx(200 / 3)],
        "dev": [1, 0, 0],
        "test": [2, 100, 100],
    }
    assert found["scores_by_links"]["2"] == [1, 100, 100]
    assert found["scores_by_answer_type"] == {
        "No answer": [1, 100, 100],
        "Words from a text": [2, 50, 50],
    }
    assert found["unanswerable"]["these predictions"] == [50, 100, pytest.approx(200 / 3)]
    assert found["unanswerable"]["always no answer"] == [pytest.approx(100 / 3), 100, 50]


def test_predictions_for_other_questions_are_told_so(tmp_path: Path) -> None:
    path = tmp_path / "predictions.json"
    path.write_text('{"x": "none"}')
    collection = island()
    tables = tables_of_predictions(collection, path)
    assert not any(table.rows for table in tables)
    assert "use a release's ids" in tables[0].note
    path.write_text("[")
    with pytest.raises(ScoreError, match="it is not valid JSON"):
        tables_of_predictions(collection, path)


def test_a_sample_is_labelled_by_hand_and_counted() -> None:
    collection = island()
    seeds = list(identified(collection))
    rows = sample(seeds, parameters_of(collection), random.Random(1))
    assert len(rows) == 5
    assert rows == sample(seeds[::-1], parameters_of(collection), random.Random(1))
    people = next(row for row in rows if row["question"].startswith("How many people"))
    assert people["answer"] == "4,120 people"
    assert people["links"] == "The island"
    assert "main: harbour of Hollin" in people["evidence"]
    rows[0] |= {"retrieval": "one link", "reasoning": "Discrete", "answer_kind": "number"}
    (table,) = labelled(rows, parameters_of(collection))
    assert {row[1].partition(":")[0] for row in table.rows if row[2]} == {
        "one link",
        "discrete",
        "number",
    }
    assert table.note == "1 questions are labelled, 4 wait."


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"reasoning": "guess"}, "Row 1: reasoning must be one of look-up, discrete, other"),
        ({"reasoning": ""}, "Row 1: label all of retrieval, reasoning, answer_kind, or none"),
        ({"retrieval": None}, "Row 1: there is no column retrieval"),
    ],
)
def test_a_wrong_label_is_named_by_its_row(change: dict[str, str | None], sentence: str) -> None:
    row = {"retrieval": "one link", "reasoning": "look-up", "answer_kind": "span"} | change
    with pytest.raises(ScoreError, match=sentence):
        counted([{key: value for key, value in row.items() if value is not None}])
