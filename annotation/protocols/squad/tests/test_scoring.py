"""Files are scored as the official scripts do, and what cannot be scored is one line."""

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.metrics.result import ScoreError
from annotation.metrics.tests.golden import vectors
from annotation.protocols.squad import scoring
from tests.page_workers import run


def gold(answers: dict[str, list[str]], version: str = "v2.0") -> dict[str, Any]:
    """Return a file in the official layout with these questions."""
    questions = [
        {
            "id": key,
            "question": "?",
            "answers": [{"text": text, "answer_start": 0} for text in texts],
            "is_impossible": not texts,
        }
        for key, texts in answers.items()
    ]
    paragraph = {"context": "It stands.", "qas": questions}
    return {"version": version, "data": [{"title": "Mill", "paragraphs": [paragraph]}]}


def write(path: Path, value: object) -> Path:
    """Return a new file of JSON."""
    path.write_text(json.dumps(value), "utf-8")
    return path


def test_every_golden_file_has_the_official_scores(tmp_path: Path) -> None:
    loaded = vectors("squad.json")
    cases = {case["id"]: case for case in loaded["cases"]}
    assert len(loaded["files"]) == 8
    for file in loaded["files"]:
        answers = {key: cases[key]["golds"] for key in file["ids"]}
        given = {key: cases[key]["pred"] for key in file["ids"]}
        paths = write(tmp_path / "p.json", given), write(tmp_path / "g.json", gold(answers))
        assert scoring.score(*paths, {})["official"] == file["expected_v2"]


def test_every_golden_case_of_the_first_version_has_its_scores(tmp_path: Path) -> None:
    cases = [case for case in vectors("squad.json")["cases"] if "v1" in case]
    assert len(cases) > 300
    for case in cases[:60]:
        answers = gold({case["id"]: case["golds"]}, "1.1")
        paths = (
            write(tmp_path / "p.json", {case["id"]: case["pred"]}),
            write(tmp_path / "g.json", answers),
        )
        official = scoring.score(*paths, {})["official"]
        assert official == pytest.approx(
            {"exact_match": 100 * case["v1"]["em"], "f1": 100 * case["v1"]["f1"]}
        )


def test_the_best_threshold_is_that_of_the_script(tmp_path: Path) -> None:
    # Sure of the wrong one, unsure of the right ones: below .4 all that is said is right.
    answers = {"a": ["mill"], "b": [], "c": ["dam"]}
    given = {"a": "mill", "b": "weir", "c": "dam"}
    paths = write(tmp_path / "p.json", given), write(tmp_path / "g.json", gold(answers))
    probable = write(tmp_path / "na.json", {"a": 0.1, "b": 0.9, "c": 0.4})
    found = scoring.score(*paths, {"na-prob-file": probable})
    assert found["official"]["exact"] == pytest.approx(200 / 3)
    assert found["official"]["best_exact"] == 100
    assert found["official"]["best_f1_thresh"] == 0.4
    assert "at 0.4" in found["notes"][0]
    applied = scoring.score(*paths, {"na-prob-file": probable, "na-prob-thresh": 0.5})
    assert applied["official"]["exact"] == 100
    assert applied["official"]["NoAns_f1"] == 100


def test_the_command_prints_the_official_keys(tmp_path: Path) -> None:
    paths = (
        write(tmp_path / "p.json", {"a": "the mill"}),
        write(tmp_path / "g.json", gold({"a": ["mill"], "b": []})),
    )
    printed = run("score", *map(str, paths), protocol="squad")
    assert printed == {
        "exact": 100.0,
        "f1": 100.0,
        "total": 1,
        "HasAns_exact": 100.0,
        "HasAns_f1": 100.0,
        "HasAns_total": 1,
    }
    told = scoring.score(*paths, {})
    assert told["notes"] == ["Questions without a prediction, left out as the script does: 1."]
    first = scoring.score(
        paths[0], write(tmp_path / "1.json", gold({"a": ["mill"], "b": ["dam"]}, "1.1")), {}
    )
    assert first["official"] == {"exact_match": 50.0, "f1": 50.0}
    assert first["notes"] == ["Questions without a prediction, counted as 0: 1."]


@pytest.mark.parametrize(
    ("given", "answers", "probable", "message"),
    [
        ([], {"a": []}, None, r"p\.json: predictions must be an object"),
        ({"a": 3}, {"a": []}, None, r"p\.json: the answer to a must be a text, not 3"),
        ({"b": ""}, {"a": []}, None, r"none of its question ids is of"),
        ({"a": ""}, {}, None, r"g\.json: there is no question to score"),
        ({"a": ""}, {"a": []}, {}, r"na\.json: it does not tell of a"),
        ({"a": ""}, {"a": []}, {"a": "much"}, r"what is told of a must be a number, not 'much'"),
        ({"a": ""}, {"a": []}, [], r"na\.json: give an object from question id to a number"),
    ],
)
def test_what_cannot_be_scored_is_refused_in_one_line(
    given: Any, answers: Any, probable: Any, message: str, tmp_path: Path
) -> None:
    paths = write(tmp_path / "p.json", given), write(tmp_path / "g.json", gold(answers))
    options = {} if probable is None else {"na-prob-file": write(tmp_path / "na.json", probable)}
    with pytest.raises(ScoreError, match=message):
        scoring.score(*paths, options)


def test_another_layout_and_a_threshold_for_the_first_version_are_refused(tmp_path: Path) -> None:
    given = write(tmp_path / "p.json", {"a": ""})
    with pytest.raises(ScoreError, match=r"has no 'data'.* The order is PREDICTIONS GOLD"):
        scoring.score(given, write(tmp_path / "g.json", {}), {})
    first = write(tmp_path / "1.json", gold({"a": ["mill"]}, "1.1"))
    with pytest.raises(ScoreError, match="in version 1 every question has an answer"):
        scoring.score(given, first, {"na-prob-thresh": 0.5})
    unanswered = write(tmp_path / "2.json", gold({"a": []}, "1.1"))
    with pytest.raises(ScoreError, match=r"2\.json: v1\.1 needs a reference"):
        scoring.score(given, unanswered, {})
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(ScoreError, match="it is not JSON"):
        scoring.score(tmp_path / "bad.json", first, {})


def test_answers_without_blanks_are_scored_by_their_characters(tmp_path: Path) -> None:
    files = [
        write(tmp_path / "predictions.json", {"a": "东京大学", "b": "一九〇三年"}),
        write(tmp_path / "gold.json", gold({"a": ["东京"], "b": ["一九〇三年"]})),
    ]
    official = scoring.score(*files, {})["official"]
    assert (official["exact"], official["f1"]) == (50.0, pytest.approx(100 * (2 / 3 + 1) / 2))
    # One such answer among others is one word, as the script has it.
    write(tmp_path / "gold.json", gold({"a": ["东京"], "b": ["Tarn"], "c": ["Orrin"]}))
    assert scoring.score(*files, {})["official"]["f1"] == 0.0
