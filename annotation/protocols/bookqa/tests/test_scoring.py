"""The metrics of free answers equal nlg-eval's on every golden vector, and two systems compare."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.metrics.generated_text import (
    MeteorError,
    bleu,
    bleu_counts,
    find_meteor,
    longest_common,
    meteor,
    meteor_counts,
    rouge_l,
)
from annotation.metrics.result import ScoreError
from annotation.metrics.tests.golden import vectors
from annotation.protocols.bookqa.export import question_ids
from annotation.protocols.bookqa.scoring import BLEUS, normalised, score
from collector.ingest.books.tests.making import pair, table
from collector.protocols.loading import get_protocol

pytestmark = pytest.mark.pure
RAW = {"raw": True}
words = st.lists(st.sampled_from("abcd"), max_size=12)


@pytest.fixture(autouse=True)
def _without_meteor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave METEOR out, which takes many seconds to begin, except where it is what is tested."""
    monkeypatch.setattr("annotation.protocols.bookqa.scoring.find_meteor", lambda: None)


def scored(folder: Path, gold: Any, predictions: Any, **options: Any) -> Any:
    paths = folder / "predictions.json", folder / "gold.json"
    for path, content in zip(paths, (predictions, gold), strict=True):
        path.write_text(json.dumps(content), "utf-8")
    return score(*paths, options)


def test_every_golden_case_has_the_official_scores() -> None:
    cases = vectors("narrativeqa.json")["cases"]
    assert len(cases) == 500
    for case in cases:
        assert rouge_l(case["hyp"], case["refs"]) == pytest.approx(case["rouge_l"], abs=1e-9)
        found = bleu(bleu_counts(case["hyp"], case["refs"]))
        assert found == pytest.approx(case["bleu_corpus_of_one"], abs=1e-9), case["id"]
        assert found == pytest.approx(case["bleu_sentence"], abs=1e-9), case["id"]


def test_every_golden_corpus_has_the_official_scores(tmp_path: Path) -> None:
    loaded = vectors("narrativeqa.json")
    cases = {case["id"]: case for case in loaded["cases"]}
    assert len(loaded["corpora"]) == 12
    for corpus in loaded["corpora"]:
        ids = list(cases) if corpus["ids"] == "ALL" else corpus["ids"]
        found = scored(
            tmp_path,
            {key: cases[key]["refs"] for key in map(int, ids)},
            {key: cases[key]["hyp"] for key in map(int, ids)},
            **RAW,
        )["official"]
        assert found["ROUGE_L"] == pytest.approx(corpus["ROUGE_L"], abs=1e-9)
        assert [found[name] for name in BLEUS] == pytest.approx(corpus["Bleu"], abs=1e-9)


# What the program counts of five golden cases, and their golden scores.
METEOR_COUNTS = [
    [9, 13, 3, 5, 5, 5, 3, 3, *[0] * 12, 1, 8, 8],
    [3, 3, 1, 1, 2, 2, 1, 1, *[0] * 12, 1, 3, 3],
    [2, 5, 0, 2, *[0] * 16, 0, 0, 0],
    [2, 11, 2, 4, 0, 0, 2, 2, *[0] * 12, 1, 2, 2],
    [2, 2, 1, 0, *[0] * 16, 0, 0, 0],
]
METEOR_SCORES = [0.3911747223678551, 1.0, 0.0, 0.044331291138962926, 0.0]
METEOR_OF_ALL_FIVE = 0.21934703234108935
# Stands for Java: it says given rows, one a line, or counts whether a prediction is a reference.
SAYS_ROWS = """#!{python}
import sys
for row in {rows}:
    sys.stdin.readline()
    print(*row, flush=True)
"""
COUNTS_WHOLE_MATCHES = """#!{python}
import sys
for line in sys.stdin:
    kind, *references, prediction = line.strip().split(" ||| ")
    n, same = len(prediction.split()), int(prediction in references)
    print(n, n, 0, 0, n * same, n * same, *[0] * 14, same, n * same, n * same, flush=True)
"""


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str, **values: Any) -> None:
    """Let the script answer in place of Java."""
    java = folder / "java"
    java.write_text(script.format(python=sys.executable, **values))
    java.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)


def test_meteor_of_what_its_program_counts_is_the_golden_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["x"] * len(METEOR_COUNTS), [["y"]] * len(METEOR_COUNTS)
    stand_in(tmp_path, monkeypatch, SAYS_ROWS, rows=METEOR_COUNTS)
    counts = meteor_counts(tmp_path / "meteor-1.5.jar", *texts)

    assert meteor(counts) == pytest.approx(METEOR_SCORES, abs=1e-9)
    assert meteor(counts.sum(axis=0)) == pytest.approx(METEOR_OF_ALL_FIVE, abs=1e-9)
    stand_in(tmp_path, monkeypatch, SAYS_ROWS, rows=[[1, 2, 3]] * len(METEOR_COUNTS))
    with pytest.raises(MeteorError, match="does not answer as METEOR"):
        meteor_counts(tmp_path / "meteor-1.5.jar", *texts)


def test_meteor_equals_the_golden_scores_where_its_program_is_there() -> None:
    program = find_meteor()
    if program is None:
        pytest.skip("meteor-1.5.jar is not here: the package pycocoevalcap brings it.")
    loaded = vectors("narrativeqa_meteor.json")
    cases = loaded["cases"]

    counts = meteor_counts(
        program, [case["hyp"] for case in cases], [case["refs"] for case in cases]
    )

    assert meteor(counts.sum(axis=0)) == pytest.approx(loaded["corpus_score"], abs=1e-6)
    assert meteor(counts) == pytest.approx([case["meteor"] for case in cases], abs=1e-6)


def test_a_program_that_is_no_meteor_is_refused_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(MeteorError, match=r"does not answer|needs Java") as caught:
        meteor_counts(tmp_path / "none.jar", ["a"], [["a"]])
    assert "\n" not in str(caught.value)


def test_meteor_has_its_p_value_and_its_rows_by_label_where_its_program_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, monkeypatch, COUNTS_WHOLE_MATCHES)
    gold = {str(number): ["the old man"] for number in range(40)}
    good = dict.fromkeys(gold, "the old man")
    bad = {key: "a young man" if int(key) % 2 else "the old man" for key in gold}
    (tmp_path / "other.json").write_text(json.dumps(bad))
    path = labelled(tmp_path, "1,causal,state,", "2,causal,entity,", "3,nested,entity,")
    more = {"meteor": "meteor-1.5.jar", "against": str(tmp_path / "other.json"), "labels": path}

    found = scored(tmp_path, gold, bad | {"1": "the old man"}, **more)

    assert found["columns"][:3] == ["", "questions", "share %"]
    assert {len(row) for row in found["rows"]} == {len(found["columns"])}
    assert list(found["official"])[-3:] == ["METEOR", "EM", "F1"]
    assert 0 < found["groups"]["p"]["METEOR"] < 1
    assert found["groups"]["question type: causal"]["METEOR"] == 1
    assert found["groups"]["question type: nested"]["METEOR"] == 0
    assert scored(tmp_path, gold, good, **more)["groups"]["p"]["METEOR"] < 0.01
    assert not any("METEOR" in note for note in found["notes"])


def test_without_meteor_neither_its_value_nor_its_p_is_shown(tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"q": "a cat"}))
    found = scored(tmp_path, {"q": ["A dog."]}, {"q": "a dog"}, against=str(other))

    assert "METEOR" not in found["groups"]["p"]
    assert any(note.startswith("METEOR is left out, and its p value") for note in found["notes"])


def test_what_keeps_meteor_out_is_said(tmp_path: Path) -> None:
    found = scored(tmp_path, {"q": ["A dog."]}, {"q": "a dog"})

    assert "METEOR" not in found["official"]
    assert found["notes"][0].startswith("METEOR is left out: it needs Java")


def test_texts_are_lower_cased_and_freed_of_punctuation_unless_raw(tmp_path: Path) -> None:
    gold, answers = {"q": ["A  dog!"]}, {"q": "a dog"}
    assert scored(tmp_path, gold, answers)["official"]["ROUGE_L"] == 1
    assert scored(tmp_path, gold, answers, **RAW)["official"]["ROUGE_L"] < 1
    assert normalised(" It's  a DOG. ") == "its a dog"


def test_a_question_without_a_prediction_is_answered_by_nothing(tmp_path: Path) -> None:
    found = scored(tmp_path, {"q": ["a dog"], "r": ["a cat"]}, {"q": "a dog"})

    assert found["official"]["ROUGE_L"] == 0.5
    assert found["official"]["EM"] == 0.5
    assert (
        "predictions.json: questions without a prediction, answered by nothing: 1."
        in (found["notes"])
    )


def test_a_better_system_is_sure_to_be_and_an_equal_one_is_not(tmp_path: Path) -> None:
    gold = {str(number): ["the old man and the sea"] for number in range(300)}
    good = dict.fromkeys(gold, "the old man and the sea")
    bad = {key: "an old woman" if int(key) % 2 else "the old man and the sea" for key in gold}
    other = tmp_path / "other.json"
    other.write_text(json.dumps(bad))

    found = scored(tmp_path, gold, good, against=str(other))

    assert found["groups"]["p"]["ROUGE_L"] < 0.01
    assert found["groups"]["against"]["EM"] == 0.5
    assert [row[0] for row in found["rows"]] == ["predictions", "against", "p"]
    other.write_text(json.dumps(good))
    assert scored(tmp_path, gold, good, against=str(other))["groups"]["p"]["ROUGE_L"] == 1


def test_so_many_subsets_are_drawn_as_the_protocols_parameters_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = {"ranking.bootstrap_subsets": 50, "ranking.bootstrap_size": 20}
    parameters = get_protocol("bookqa").parameters(changed)
    monkeypatch.setattr("annotation.protocols.bookqa.scoring.defaults", lambda: parameters)
    gold = {str(number): ["a dog"] for number in range(30)}
    other = tmp_path / "other.json"
    other.write_text(json.dumps(dict.fromkeys(gold, "a cat")))

    found = scored(tmp_path, gold, dict.fromkeys(gold, "a dog"), against=str(other))

    assert "of 50 subsets of 20 questions" in found["notes"][-1]


def labelled(folder: Path, *rows: str) -> str:
    path = folder / "labels.csv"
    path.write_text("\n".join(("id,question_type,answer_unit,note", *rows)), "utf-8-sig")
    return str(path)


def test_scores_are_broken_down_by_label_and_by_group(tmp_path: Path) -> None:
    gold = {key: ["a dog"] for key in "abcd"}
    answers = {"a": "a dog", "b": "a cat", "c": "a dog", "d": "a dog"}
    path = labelled(
        tmp_path, "a,causal,state,", "b,Nested,entity,x", "c,concept relation,entity,", "d,,,"
    )

    found = scored(tmp_path, gold, answers, labels=path)

    numbers = {name: each["EM"] for name, each in found["groups"].items()}
    assert numbers == {
        "question group: Concept": 1.0,
        "question group: Event relation": 0.5,
        "question type: concept relation": 1.0,
        "question type: causal": 1.0,
        "question type: nested": 0.0,
        "answer class: Concept": 0.5,
        "answer class: Attribute": 1.0,
        "answer unit: entity": 0.5,
        "answer unit: state": 1.0,
    }
    assert [row[1] for row in found["rows"][:3]] == ["4", "1", "2"]
    # Three of the four have labels: shares are of these.
    assert [row[2] for row in found["rows"][:3]] == ["", "33.3", "66.7"]
    # The paper's share, and ROUGE-L of its two systems; a group's are its labels' by their shares.
    beside = {row[0]: row[-3:] for row in found["rows"]}
    assert found["columns"][-3:] == [
        *("paper's share %", "paper's Gen ROUGE_L %", "paper's Ext ROUGE_L %"),
    ]
    assert beside["all"] == ["", "", ""]
    assert beside["question type: causal"] == ["12.6", "22.86", "10.39"]
    assert beside["answer unit: entity"] == ["35.3", "26.76", "18.59"]
    assert beside["question group: Concept"] == ["23.0", "37.15", "23.01"]
    assert found["groups"]["answer unit: entity"]["share"] == pytest.approx(2 / 3)
    assert "Questions without labels, in no row of a label: 1." in found["notes"]


def test_the_labels_of_a_whole_table_break_one_set_of_it_down(tmp_path: Path) -> None:
    asked = [{**pair("ford"), "set": "valid"}, {**pair("weir"), "set": "train"}]
    gold = table(tmp_path / "qaps.csv", *asked)
    valid, train = question_ids((row["document_id"], row["question"]) for row in asked)
    (tmp_path / "found.json").write_text(json.dumps({valid: "a girl"}))
    labels = labelled(tmp_path, f"{valid},causal,entity,", f"{train},nested,state,")

    found = score(tmp_path / "found.json", gold, {"set": "valid", "labels": labels})

    assert set(found["groups"]) == {
        *("question group: Event relation", "question type: causal"),
        *("answer class: Concept", "answer unit: entity"),
    }
    assert found["groups"]["question type: causal"]["share"] == 1


def test_simulated_labels_are_said_to_be(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("id,question_type,answer_unit,simulated\na,causal,state,yes\nb,nested,state,\n")
    gold = {key: ["a dog"] for key in "ab"}
    notes = scored(tmp_path, gold, {}, labels=str(path))["notes"]
    assert "Labels of simulated workers: of 1 questions." in notes


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("a,cause,state,", "labels.csv: Row 1: question_type must be one of concept relation"),
        ("a,causal,,", "labels.csv: Row 1: label all of question_type, answer_unit, or none"),
        ("z,causal,state,", "labels.csv: Row 1: no question has the id 'z'"),
        ("a,causal,state,\na,causal,state,", "labels.csv: Row 2: a is labelled twice"),
    ],
)
def test_a_wrong_file_of_labels_is_refused_by_its_row(tmp_path: Path, row: str, said: str) -> None:
    with pytest.raises(ScoreError, match=said) as caught:
        scored(tmp_path, {"a": ["a dog"]}, {}, labels=labelled(tmp_path, row))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("gold", "predictions", "said"),
    [
        ([], {}, "gold must be an object"),
        ({}, {}, "there is no question to score"),
        ({"q": "a dog"}, {}, "q must have a list of references"),
        ({"q": []}, {}, "q must have a list of references"),
        ({"q": ["a"]}, [], "predictions must be an object"),
        ({"q": ["a"]}, {"q": 3}, "the answer to q must be a text, not 3"),
        ({"q": ["a"]}, {"r": "a"}, "none of its question ids"),
    ],
)
def test_a_wrong_file_is_refused_in_one_line(
    tmp_path: Path, gold: Any, predictions: Any, said: str
) -> None:
    with pytest.raises(ScoreError, match=said) as caught:
        scored(tmp_path, gold, predictions)
    assert "\n" not in str(caught.value)


def test_what_is_not_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gold.json"
    path.write_text("{")
    with pytest.raises(ScoreError, match="it is not JSON"):
        score(path, path, {})


@given(words, words)
def test_the_longest_common_subsequence_does_not_care_which_side_is_which(
    one: list[str], other: list[str]
) -> None:
    assert longest_common(one, other) == longest_common(other, one) <= min(len(one), len(other))
    assert longest_common(one, one) == len(one)
