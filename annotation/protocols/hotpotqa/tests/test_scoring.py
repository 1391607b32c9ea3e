"""The metrics equal those of the official script on every golden vector."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.metrics.result import ScoreError
from annotation.metrics.supporting_facts import answer_measure, facts_measure
from annotation.metrics.tests.golden import vectors
from annotation.protocols.hotpotqa.scoring import score

# Label of an edge vector -> what we say where the official script stops.
REFUSALS = {
    "empty gold list": "no question to score",
    "prediction without sp key": '"answer" and "sp"',
    "null answer": "the answer to .* must be a text, not None",
    "gold without supporting_facts": "private folder beside the release",
}


def scored(folder: Path, gold: Any, predictions: Any, by: str | None = None) -> Any:
    """Return what `score` gives for these two files."""
    paths = folder / "predictions.json", folder / "gold.json"
    for path, content in zip(paths, (predictions, gold), strict=True):
        path.write_text(json.dumps(content))
    return score(*paths, {} if by is None else {"by": by})


def gold_of(case: dict[str, Any]) -> dict[str, Any]:
    """Return a vector's question as a gold file has it."""
    facts = case["gold_supporting_facts"]
    return {"_id": case["_id"], "answer": case["gold_answer"], "supporting_facts": facts}


def test_it_equals_the_official_script_on_every_question(tmp_path: Path) -> None:
    cases = vectors("hotpotqa.json")["cases"]
    assert len(cases) == 700
    for case in cases:
        key = case["_id"]
        given = {"answer": {key: case["pred_answer"]}, "sp": {key: case["pred_sp"]}}
        found = scored(tmp_path, [gold_of(case)], given)["official"]
        assert found == pytest.approx(case["expected"], abs=1e-9), key
        assert list(found) == list(case["expected"])


def test_it_equals_the_official_script_on_every_file(tmp_path: Path) -> None:
    loaded = vectors("hotpotqa.json")
    by_id = {case["_id"]: case for case in loaded["cases"]}
    assert len(loaded["files"]) == 25
    for file in loaded["files"]:
        ids = list(by_id) if file["case_ids"] == "ALL" else file["case_ids"]
        cases = [by_id[key] for key in ids]
        answers, facts = (
            {case["_id"]: case[name] for case in cases if case["_id"] not in file[missing]}
            for name, missing in (("pred_answer", "missing_answer"), ("pred_sp", "missing_sp"))
        )
        if file["extra_unknown_id"]:
            answers["unknown"], facts["unknown"] = "yes", []
        result = scored(
            tmp_path, [gold_of(case) for case in cases], {"answer": answers, "sp": facts}
        )
        assert result["official"] == pytest.approx(file["expected"], abs=1e-9)
        assert len(result["notes"]) == bool(file["missing_answer"]) + bool(file["missing_sp"])


def test_it_says_what_to_do_where_the_official_script_stops(tmp_path: Path) -> None:
    edges = vectors("hotpotqa.json")["edge"]
    assert {case["label"] for case in edges if "error" in case["expected"]} == REFUSALS.keys()
    for case in edges:
        if "error" not in case["expected"]:
            found = scored(tmp_path, case["gold"], case["pred"])["official"]
            assert found == pytest.approx(case["expected"], abs=1e-9)
            continue
        with pytest.raises(ScoreError, match=REFUSALS[case["label"]]) as refusal:
            scored(tmp_path, case["gold"], case["pred"])
        assert "\n" not in str(refusal.value)


def test_it_breaks_down_by_type(tmp_path: Path) -> None:
    gold = [
        {"_id": key, "answer": "yes", "supporting_facts": [["A", 0]], "type": kind}
        for key, kind in (("1", "bridge"), ("2", "comparison"), ("3", "comparison"))
    ]
    given = {"answer": {"1": "yes", "2": "no", "3": "Yes"}, "sp": {"1": [["A", 0]]}}
    result = scored(tmp_path, gold, given, by="type")
    assert {name: group["em"] for name, group in result["groups"].items()} == {
        "bridge": 1.0,
        "comparison": 0.5,
    }
    assert [row[:3] for row in result["rows"]] == [
        ["all", "3", "66.67"],
        ["bridge", "1", "100.00"],
        ["comparison", "2", "50.00"],
    ]
    with pytest.raises(ScoreError, match="no question tells its level"):
        scored(tmp_path, gold, given, by="level")


@pytest.mark.parametrize(
    ("gold", "predictions", "sentence"),
    [
        ({}, {"answer": {}, "sp": {}}, "PREDICTIONS GOLD"),
        ([], [], "PREDICTIONS GOLD"),
        (None, {"answer": {"x": "yes"}, "sp": {}}, "none of its question ids"),
        (None, {"answer": {}, "sp": {"q": [3]}}, "q: facts must be a list of"),
        (None, {"answer": {}, "sp": {"q": [["A", [0]]]}}, "q: facts must be a list of"),
    ],
)
def test_it_refuses_what_is_not_a_pair_of_official_files(
    tmp_path: Path, gold: Any, predictions: Any, sentence: str
) -> None:
    whole = [{"_id": "q", "answer": "x", "supporting_facts": []}] if gold is None else gold
    with pytest.raises(ScoreError, match=sentence):
        scored(tmp_path, whole, predictions)


@given(st.text(alphabet="ab the,.é", max_size=20), st.text(alphabet="ab the,.é", max_size=20))
def test_precision_and_recall_change_places_with_the_answers(one: str, other: str) -> None:
    there, back = answer_measure(one, other), answer_measure(other, one)
    assert (there.em, there.f1, there.prec) == (back.em, back.f1, back.recall)


facts = st.lists(st.tuples(st.sampled_from("AB"), st.integers(0, 3)))


@given(facts, facts)
def test_repeated_facts_change_nothing(one: list[Any], other: list[Any]) -> None:
    assert facts_measure(one + one, other) == facts_measure(one, other + other)
