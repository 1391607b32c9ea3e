"""The official totals from files, the breakdowns of the paper, and every wrong file."""

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.metrics.result import Result, ScoreError
from annotation.metrics.tests.golden import vectors
from annotation.protocols.iirc import scoring

SPAN = {"type": "span", "answer_spans": [{"text": "Ada", "passage": "a", "start": 0, "end": 3}]}


def question(qid: str, answer: dict[str, Any], *documents: str) -> dict[str, Any]:
    """Return an official question with one piece of evidence in each document."""
    context = [{"passage": name, "text": "t", "indices": [0, 1]} for name in documents]
    return {"qid": qid, "question": "Who?", "answer": answer, "context": context}


GOLD = [
    {
        "text": "t",
        "questions": [
            question("q_a", SPAN, "main", "A", "A"),
            question("q_b", {"type": "bad"}),
            question("q_c", {"type": "none"}) | {"question_links": ["A", "B", "C"]},
            question("q_d", {"type": "value", "answer_value": "5", "answer_unit": "km"}, *"ABCDE"),
            question("q_e", {"type": "binary", "answer_value": "yes"}, "main", "A", "B"),
        ],
    }
]


@pytest.fixture
def score(tmp_path: Path) -> Any:
    """Return a function that writes both files and scores them."""

    def written(predictions: Any, gold: Any = GOLD, **options: Any) -> Result:
        for name, value in (("predictions.json", predictions), ("dev.json", gold)):
            (tmp_path / name).write_text(value if isinstance(value, str) else json.dumps(value))
        return scoring.score(tmp_path / "predictions.json", tmp_path / "dev.json", options)

    return written


@pytest.mark.parametrize("layout", ["iirc", "official_drop_style"])
def test_every_golden_file_has_the_official_totals(score: Any, layout: str) -> None:
    for file in vectors("iirc_drop.json")["iirc_files"]:
        initial = {"initial": file["initial_qid"]} if layout == "iirc" else {}
        result = score(file["predictions"], file[layout], **initial)
        assert result["official"] == {
            "global_em": file["expected_global"]["em"],
            "global_f1": file["expected_global"]["f1"],
        }
        assert result["rows"][0][1] == str(len(file["per_question"]))


def test_it_breaks_down_by_linked_documents(score: Any) -> None:
    result = score({"qid_1": "Ada", "qid_2": "none", "qid_3": "6"}, by="links")
    assert result["groups"] == {
        "1": {"global_em": 1.0, "global_f1": 1.0},
        "2": {"global_em": 0.0, "global_f1": 0.0},
        "3": {"global_em": 1.0, "global_f1": 1.0},
        "4+": {"global_em": 0.0, "global_f1": 0.0},
    }
    assert result["rows"][0] == ["all", "4", "50.00", "50.00"]
    assert result["notes"] == ["Questions without a prediction, counted as 0: 1."]


def test_it_breaks_down_by_answer_type_in_either_layout(score: Any) -> None:
    result = score({"qid_1": "Ada", "qid_9": "extra"}, by="answer-type")
    assert list(result["groups"]) == ["binary", "none", "span", "value"]
    assert "Predictions with ids that gold does not have, ignored: 1." in result["notes"]
    pair = {"query_id": "x", "answer": {"number": "5", "spans": []}}
    result = score({"x": "5"}, {"p": {"qa_pairs": [pair]}}, by="answer-type")
    assert result["groups"] == {"number": {"global_em": 1.0, "global_f1": 1.0}}


def test_it_breaks_down_by_both_in_one_table(score: Any) -> None:
    result = score({"qid_1": "Ada"}, by="links-and-type")
    assert list(result["groups"]) == ["1", "2", "3", "4+", "binary", "none", "span", "value"]


def test_it_tells_how_well_no_answer_is_said(score: Any) -> None:
    result = score({"qid_1": ["None"], "qid_2": "none", "qid_3": ""}, by="unanswerable")
    assert result["beside"] == {
        "unanswerable_precision": 0.5,
        "unanswerable_recall": 1.0,
        "unanswerable_f1": pytest.approx(2 / 3),
    }
    assert result["rows"] == [
        ["these predictions", "50.00", "100.00", "66.67"],
        ["always no answer", "25.00", "100.00", "40.00"],
    ]
    assert result["official"]["global_em"] == 0.25


def test_predictions_may_use_the_questions_own_ids(score: Any) -> None:
    assert score({"q_a": "Ada", "q_c": "none"})["official"]["global_em"] == 0.5


def test_the_numbering_of_a_later_file_is_found_or_asked_for(score: Any) -> None:
    answers = {"qid_101": "Ada", "qid_102": "none", "qid_103": "5", "qid_104": "Yes"}
    assert score(answers)["official"]["global_em"] == 1.0
    del answers["qid_104"]
    with pytest.raises(ScoreError, match=r"can be numbered in several ways .* give --initial N"):
        score(answers)
    assert score(answers, initial=100)["official"]["global_em"] == 0.75


@pytest.mark.parametrize(
    ("predictions", "gold", "message"),
    [
        ("{", GOLD, r"predictions\.json: it is not valid JSON"),
        ([], GOLD, r"predictions\.json: predictions must be an object"),
        ({"qid_1": 5}, GOLD, r"predictions\.json: the answer to qid_1 must be a string"),
        ({"qid_1": None}, GOLD, r"the answer to qid_1 must be a string"),
        ({"other": "Ada"}, GOLD, r"none of its 1 ids \(such as other\) is of .*dev\.json"),
        ({}, [], r"dev\.json: there is no question to score"),
        ({}, {"qid_1": "Ada"}, r"dev\.json: gold must be .* the order is PREDICTIONS GOLD"),
        ({}, [{"text": "t"}], r"dev\.json: gold must be a list of passages"),
        (
            {},
            [{"questions": [{"answer": {"type": "x"}}]}],
            r"dev\.json: unknown answer type 'x'",
        ),
        ({}, [{"questions": [{"question": None}]}], "question 0: it has no question; give it one"),
        ({}, "7", r"dev\.json: the whole file must be a list"),
    ],
)
def test_a_wrong_file_is_named_with_what_to_do(
    score: Any, predictions: Any, gold: Any, message: str
) -> None:
    with pytest.raises(ScoreError, match=message) as raised:
        score(predictions, gold)
    assert "\n" not in str(raised.value)


def test_drop_style_has_no_links_to_break_down_by(score: Any) -> None:
    pair = {"query_id": "x", "answer": {"number": "5", "spans": []}}
    with pytest.raises(ScoreError, match="DROP style has no links"):
        score({"x": "5"}, {"p": {"qa_pairs": [pair]}}, by="links")
