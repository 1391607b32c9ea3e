"""Each baseline answers as the paper says, and the official metric scores what it wrote."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from annotation.metrics.result import ScoreError
from annotation.metrics.tests.golden import vectors
from annotation.protocols.quac.baselines import BASELINES, HUMAN, run
from annotation.protocols.quac.file_format import CANNOT_ANSWER
from annotation.protocols.quac.scoring import score
from annotation.protocols.quac.tests.talks import SENTENCES, question, write


@pytest.fixture
def train(tmp_path: Path) -> Path:
    """Return a training file: the talk moves on by one sentence, and then there is no answer."""
    talk = [question("What first?", SENTENCES[0], followup="n")]
    talk += [question("What then?", SENTENCES[1]), question("Why?", None, followup="n")]
    return write(tmp_path / "train.json", talk, talk[:2], [question("What?", SENTENCES[2])])


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    """Return a file to answer: three references each."""
    talk = [
        question("What notes?", SENTENCES[0], "the first notes", SENTENCES[0]),
        question("What had the engine?", "brass wheels", SENTENCES[2], "had brass wheels"),
        question("Who knows?", None, SENTENCES[5], None),
    ]
    return write(tmp_path / "dev.json", talk)


def answers(name: str, gold: Path, **options: Any) -> list[str]:
    """Return the spans a baseline writes."""
    predictions = gold.parent / f"{name}.jsonl"
    run(name, predictions, gold, options)
    lines = [json.loads(line) for line in predictions.read_text("utf-8").splitlines()]
    return [span for line in lines for span in line["best_span_str"]]


def test_the_transition_matrix_goes_where_training_went(train: Path, gold: Path) -> None:
    # First answers: sentence 0 twice, 2 once. After 0 comes 1. Nothing came after 2, so all count.
    expected = [SENTENCES[0], SENTENCES[1], SENTENCES[0]]
    assert answers("transition-matrix", gold, train=train) == expected


def test_with_gold_no_answers_it_knows_them_alone(train: Path, gold: Path) -> None:
    expected = [SENTENCES[0], SENTENCES[1], CANNOT_ANSWER]
    assert answers("gold-na-transition-matrix", gold, train=train) == expected


def test_the_gold_sentence_is_the_one_of_the_best_f1(gold: Path) -> None:
    assert answers("gold-sentence-na", gold) == [SENTENCES[0], SENTENCES[2], CANNOT_ANSWER]


def test_similarity_is_of_words_with_the_question(train: Path, gold: Path) -> None:
    assert answers("sentence-similarity", gold, train=train)[:2] == [SENTENCES[0], SENTENCES[2]]


def test_vectors_of_a_file_take_the_place_of_words(train: Path, gold: Path) -> None:
    file = gold.parent / "vectors.txt"
    lines = [
        "3 2",
        "notes 1 0",
        "algebra 0.9 0.1",
        "knows 0 1",
        "horses 0.2 0.9",
        f"{SENTENCES[11]}\t1 0.05",
    ]
    file.write_text("\n".join(lines) + "\n")
    given = answers("sentence-similarity", gold, train=train, vectors=file)
    assert given == [SENTENCES[0], SENTENCES[0], SENTENCES[7]]
    file.write_text("notes 1 0\nalgebra 1\n")
    with pytest.raises(ScoreError, match=r"line 2: give a word and 2 numbers"):
        run("sentence-similarity", gold.parent / "x", gold, {"train": train, "vectors": file})


def test_majority_answers_none_with_the_commonest_acts(train: Path, gold: Path) -> None:
    predictions = gold.parent / "majority.jsonl"
    result = run("majority", predictions, gold, {"train": train})
    (line,) = map(json.loads, predictions.read_text().splitlines())
    assert set(line["best_span_str"]) == {CANNOT_ANSWER}
    assert (set(line["yesno"]), set(line["followup"])) == ({"x"}, {"m"})
    assert result["official"]["f1"] == pytest.approx(100 / 3)
    assert result["official"]["followup"] == 100


def test_the_regression_learns_what_tells_an_answer(gold: Path, tmp_path: Path) -> None:
    asked = [
        question(f"What about {sentence.split()[-1]}", sentence) for sentence in SENTENCES[:11]
    ]
    known = [question(f"Say {sentence.split()[-1]}", sentence) for sentence in SENTENCES[5:8]]
    nothing = [question("Anything else?", None)]
    train = write(tmp_path / "t.json", asked[::2] + nothing, asked[1::2] + nothing)
    asked_now = write(tmp_path / "d.json", known + nothing)
    assert answers("logistic-regression", asked_now, train=train) == [
        *SENTENCES[5:8],
        CANNOT_ANSWER,
    ]


def test_people_are_scored_with_each_reference_held_out(tmp_path: Path) -> None:
    n_checked = 0
    for case in vectors("quac.json")["files"]:
        gold, predictions = tmp_path / "val.json", tmp_path / f"{n_checked}.jsonl"
        gold.write_text(json.dumps(case["val"]))
        scores = [question["human_f1"] for question in case["per_question"]]
        kept = [human for human in scores if human >= 0.4]
        result = run(HUMAN, predictions, gold, {})
        assert result["official"]["unfiltered_f1"] == pytest.approx(100 * sum(scores) / len(scores))
        assert result["official"]["f1"] == pytest.approx(100 * sum(kept) / len(kept))
        assert result["official"]["HEQ"] == result["official"]["DHEQ"] == 100
        assert "yes/no" not in result["official"]
        n_checked += 1
    assert n_checked > 10


@pytest.mark.parametrize("name", BASELINES)
def test_on_official_files_the_same_seed_gives_the_same_bytes(
    name: str, data: Path, tmp_path: Path
) -> None:
    folder = data / "official" / "quac"
    gold, train = folder / "val_v0.2.json", folder / "train_v0.2.json"
    written = []
    for at, seed in enumerate((1, 1, 2)):
        file = tmp_path / f"{at}.jsonl"
        result = run(name, file, gold, {"train": train, "seed": seed})
        written.append(file.read_bytes())
    assert written[0] == written[1]
    assert (written[0] != written[2]) == (name == "random-sentence")
    if name != HUMAN:
        assert result["official"] == score(file, gold, {})["official"]
    contexts = {
        question["id"]: dialog["context"]
        for section in json.loads(gold.read_text())["data"]
        for dialog in section["paragraphs"]
        for question in dialog["qas"]
    }
    lines = [json.loads(line) for line in written[0].splitlines()]
    spans = {
        qid: span
        for line in lines
        for qid, span in zip(*(line[key] for key in ("qid", "best_span_str")), strict=True)
    }
    assert spans.keys() == contexts.keys()
    assert all(span in contexts[qid] for qid, span in spans.items())


def test_the_upper_bounds_stand_above_the_sanity_checks(data: Path, tmp_path: Path) -> None:
    folder = data / "official" / "quac"
    gold, train = folder / "val_v0.2.json", folder / "train_v0.2.json"
    f1 = {
        name: run(name, tmp_path / name, gold, {"train": train})["official"]["f1"]
        for name in BASELINES
    }
    bounds = ("gold-na-transition-matrix", "gold-sentence-na", HUMAN)
    assert min(f1[name] for name in bounds) > max(f1[n] for n in BASELINES if n not in bounds)
    labels = Counter(
        question["followup"]
        for section in json.loads(train.read_text())["data"]
        for dialog in section["paragraphs"]
        for question in dialog["qas"]
    )
    (line, *_) = (tmp_path / "majority").read_text().splitlines()
    assert set(json.loads(line)["followup"]) == {labels.most_common(1)[0][0]}


def test_it_refuses_in_one_line(train: Path, gold: Path) -> None:
    new = gold.parent / "new.jsonl"
    with pytest.raises(ScoreError, match="give --train"):
        run("majority", new, gold, {})
    with pytest.raises(ScoreError, match="--vectors means nothing for majority"):
        run("majority", new, gold, {"train": train, "vectors": gold})
    with pytest.raises(ScoreError, match="is there already"):
        run("gold-sentence-na", gold, gold, {})
    with pytest.raises(ScoreError, match="cannot be written"):
        run("gold-sentence-na", gold.parent / "no" / "folder", gold, {})
    with pytest.raises(ScoreError, match="no question in it"):
        run("gold-sentence-na", new, write(gold.parent / "empty.json"), {})
