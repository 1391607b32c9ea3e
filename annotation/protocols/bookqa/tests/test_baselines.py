"""People are compared by what the second of them answered; gold may be a table as released."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.metrics.result import ScoreError
from annotation.protocols.bookqa.baselines import NOTE, run, run_all
from annotation.protocols.bookqa.export import question_ids
from annotation.protocols.bookqa.scoring import read_gold, score
from collector.ingest.books.tests.making import document, pair, table

pytestmark = pytest.mark.pure


@pytest.fixture(autouse=True)
def _without_meteor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.protocols.bookqa.scoring.find_meteor", lambda: None)


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    """Return a table of three questions; the second answer to one equals the first."""
    asked = [pair("ford"), pair("weir"), pair("weir", "When did she cross?")]
    asked[2] |= {"answer1": "At dusk.", "answer2": "at dusk"}
    return table(tmp_path / "qaps.csv", *asked)


def test_a_table_is_gold_by_ids_that_follow_from_its_rows(gold: Path) -> None:
    found = read_gold(gold)

    assert list(found.values()) == [
        ["The miller's daughter.", "a girl"],
        ["The miller's daughter.", "a girl"],
        ["At dusk.", "at dusk"],
    ]
    assert list(found) == list(
        question_ids(
            [
                ("ford", "Who crossed the ford?"),
                ("weir", "Who crossed the ford?"),
                ("weir", "When did she cross?"),
            ]
        )
    )


def test_what_is_asked_twice_of_a_book_is_two_questions() -> None:
    once, twice = question_ids([("ford", "Who?"), ("ford", "Who?")])
    assert once != twice
    assert [once] == list(question_ids([("ford", "Who?")]))


def test_people_are_scored_by_their_second_answers_against_the_first(
    gold: Path, tmp_path: Path
) -> None:
    result = run("human", tmp_path / "people.json", gold, {})

    assert result["official"]["EM"] == pytest.approx(1 / 3)
    assert result["notes"][0] == NOTE
    written = json.loads((tmp_path / "people.json").read_text("utf-8"))
    assert list(written.values()) == ["a girl", "a girl", "at dusk"]
    together = run_all(tmp_path / "all", gold, {})
    assert together["official"] == result["official"]


def test_people_too_are_scored_on_the_questions_with_a_verb_in_either_answer(
    tmp_path: Path,
) -> None:
    asked = [
        {**pair("ford"), "answer1": "Marta", "answer2": "she sold it"},
        {**pair("weir"), "answer1": "he rows", "answer2": "a boat"},
        {**pair("mill"), "answer1": "Marta", "answer2": "a boat"},
    ]
    gold = table(tmp_path / "qaps.csv", *asked)

    people = run("human", tmp_path / "people.json", gold, {"events": True})
    system = score(tmp_path / "people.json", gold, {"events": True})

    # What they are held against is the first answer, which decides nothing of events.
    counts = [each["groups"]["event-only"]["questions"] for each in (people, system)]
    assert counts == [2, 2]


def test_it_is_a_baseline_of_the_command(gold: Path, tmp_path: Path, capsys: Any) -> None:
    files = [str(tmp_path / "people.json"), str(gold)]
    call_command("score", *files, protocol="bookqa", baseline="human")
    assert "held against the first alone" in capsys.readouterr().out
    with pytest.raises(CommandError, match="learns nothing and draws nothing"):
        call_command("score", *files, protocol="bookqa", baseline="human", seed=3)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("gold.json", {"a": ["one"]}, "a has one answer"),
        ("gold.json", {}, "there is no question"),
        ("qaps.csv", "document_id,set,question\n", "qaps.csv lacks the column answer1"),
        ("other.csv", "document_id,set,summary\n", "other.csv: it is a summaries.csv; give qaps"),
        ("qaps.csv", "document_id,set,question,answer1,answer2\n", "there is no question"),
    ],
)
def test_gold_without_two_answers_is_refused_in_a_line(
    tmp_path: Path, name: str, content: Any, message: str
) -> None:
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    with pytest.raises(ScoreError, match=message):
        run("human", tmp_path / "people.json", path, {})


def test_what_is_there_already_is_not_written_over(gold: Path, tmp_path: Path) -> None:
    (tmp_path / "people.json").write_text("mine")
    with pytest.raises(ScoreError, match="is there already"):
        run("human", tmp_path / "people.json", gold, {})
    with pytest.raises(ScoreError, match="cannot be written"):
        run("human", tmp_path / "no" / "people.json", gold, {})
    with pytest.raises(ScoreError, match="name a new folder"):
        run_all(tmp_path, gold, {})
    assert (tmp_path / "people.json").read_text() == "mine"


def test_documents_are_no_gold(tmp_path: Path) -> None:
    path = table(tmp_path / "documents.csv", document("ford"))
    with pytest.raises(ScoreError, match=r"it is a documents\.csv"):
        read_gold(path)
