"""The metrics equal those of the official script on every golden vector."""

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.metrics.result import ScoreError
from annotation.metrics.tests.golden import vectors
from annotation.protocols.quac.baselines import run
from annotation.protocols.quac.scoring import CURVES, FIGURE_7, score
from annotation.protocols.quac.tests.talks import SENTENCES, write
from annotation.protocols.quac.tests.talks import question as asked
from annotation.protocols.quac.turns import human_f1, system_f1

KEYS = ("unfiltered_f1", "f1", "HEQ", "DHEQ", "yes/no", "followup", "unanswerable_acc")


def scored(folder: Path, case: dict[str, Any]) -> dict[str, float]:
    """Write a vector's two files and return the official keys as `score` gives them."""
    gold, predictions = folder / "val.json", folder / "predictions.jsonl"
    gold.write_text(json.dumps(case["val"]))
    predictions.write_text("\n".join(json.dumps(line) for line in case["predictions_jsonl"]))
    return score(predictions, gold, {"min-f1": case["min_f1"]})["official"]


def test_it_equals_the_official_totals_on_every_file(tmp_path: Path) -> None:
    for case in vectors("quac.json")["files"]:
        official = scored(tmp_path, case)
        if "error" in case["expected"]:
            assert "unanswerable_acc" not in official
            assert official.keys() == set(KEYS) - {"unanswerable_acc"}
        else:
            assert official == pytest.approx({key: case["expected"][key] for key in KEYS}, abs=1e-9)


def test_each_question_equals_the_official_script() -> None:
    n_checked = 0
    for case in vectors("quac.json")["files"]:
        for question in case["per_question"]:
            if question["prediction"] is None:
                continue
            references = question["refs_after_majority_rule"]
            found = system_f1(question["prediction"], references)
            human = human_f1(references)
            assert found == pytest.approx(question["leave_one_out_f1"], abs=1e-12)
            assert human == pytest.approx(question["human_f1"], abs=1e-12)
            assert (found >= human) == question["human_equivalent"]
            n_checked += 1
    assert n_checked > 800


def test_it_refuses_what_is_not_a_pair_of_official_files(tmp_path: Path) -> None:
    case = vectors("quac.json")["files"][0]
    scored(tmp_path, case)
    gold, predictions = tmp_path / "val.json", tmp_path / "predictions.jsonl"
    with pytest.raises(ScoreError, match="PREDICTIONS GOLD"):
        score(predictions, _written(tmp_path / "wrong.json", "[]"), {})
    with pytest.raises(ScoreError, match=r"line 1.*lists"):
        score(_written(tmp_path / "wrong.jsonl", "{}"), gold, {})
    line = {"qid": ["C_x_0_q#0"], "best_span_str": [""], "yesno": ["x"], "followup": ["n"]}
    with pytest.raises(ScoreError, match="none of its question ids"):
        score(_written(tmp_path / "other.jsonl", json.dumps(line)), gold, {})


def test_a_span_may_hold_any_separator_but_a_line_feed(tmp_path: Path) -> None:
    case = vectors("quac.json")["files"][0]
    as_given = scored(tmp_path, case)
    predictions = tmp_path / "predictions.jsonl"
    line = {"qid": ["C_x_0_q#0"], "best_span_str": ["a\u2028b\x85c"], "yesno": ["x"]}
    more = json.dumps({**line, "followup": ["n"]}, ensure_ascii=False)
    predictions.write_text(f"{predictions.read_text('utf-8')}\r\n{more}\n", "utf-8")
    assert (
        score(predictions, tmp_path / "val.json", {"min-f1": case["min_f1"]})["official"]
        == as_given
    )
    predictions.write_text("[" * 100_000)
    with pytest.raises(ScoreError, match="line 1: it is not JSON"):
        score(predictions, tmp_path / "val.json", {})


def _written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_all_curves_of_figure_7_are_told_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    talk = [asked("What notes?", SENTENCES[0]), asked("Whose?", SENTENCES[3], followup="y")]
    gold, predictions = write(tmp_path / "dev.json", talk), tmp_path / "predictions.jsonl"
    run("gold-sentence-na", predictions, gold, {})
    result = score(predictions, gold, {"by": FIGURE_7})
    curves = {by: score(predictions, gold, {"by": by})["groups"] for by in CURVES}
    told = {
        f"{by} {name}": group for by, groups in curves.items() for name, group in groups.items()
    }
    assert result["groups"] == told
    assert [row[0] for row in result["rows"]] == ["all", *told]
    assert "turn 2" in told
    assert "distance 3" in told
    assert result["notes"][0].startswith("In all: unfiltered_f1 100.0, f1 100.0")
