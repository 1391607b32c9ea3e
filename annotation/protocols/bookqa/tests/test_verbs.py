"""Answers with a verb are told by a model of spaCy where there is one, else by a rule of words."""

import json
import os
from pathlib import Path

import pytest

from annotation.metrics.result import ScoreError
from annotation.protocols.bookqa import verbs
from annotation.protocols.bookqa.scoring import score
from annotation.protocols.bookqa.verbs import RULE, has_verb, texts_with_verbs
from common.language_pipelines import spacy_library

pytestmark = pytest.mark.pure


@pytest.fixture(autouse=True)
def _without_installed_models(monkeypatch: pytest.MonkeyPatch) -> None:
    # Before the module under test does, which takes torch along for models that need it.
    spacy_library()
    monkeypatch.setattr(verbs, "MODELS", ())
    monkeypatch.setattr("annotation.protocols.bookqa.scoring.find_meteor", lambda: None)


@pytest.fixture
def model(tmp_path: Path) -> str:
    """Return a small model that takes *rows* for a verb, and nothing else."""
    pipeline = spacy_library().blank("en", meta={"name": "rowing", "version": "1.2.3"})
    ruler = pipeline.add_pipe("attribute_ruler")
    ruler.add([[{"LOWER": "rows"}]], {"POS": "VERB"})  # type: ignore[attr-defined]
    ruler.add([[{"LOWER": {"NOT_IN": ["rows"]}}]], {"POS": "NOUN"})  # type: ignore[attr-defined]
    pipeline.to_disk(tmp_path / "model")
    return str(tmp_path / "model")


@pytest.mark.parametrize(
    "text",
    [
        "she burns the letter",
        "He told Marta.",
        "They were hidden by the miller",
        "to marry him",
        "To hide the key",
        "because he loves her",
        "By swimming across the river",
        "Kill the bailiff",
        "It is destroyed.",
        "He can swim",
    ],
)
def test_the_rule_finds_events(text: str) -> None:
    assert has_verb(text)


@pytest.mark.parametrize(
    "text",
    [
        "Marta",
        "the ferryman's niece",
        "A rusty key",
        "He was a miller",
        "to Paris",
        "The building by the river",
        "in the evening",
        "His beloved",
        "a hundred red deeds",
        "Josef, a ferryman",
        "She is not rich",
        "the wedding",
        "",
    ],
)
def test_the_rule_leaves_out_who_what_where_and_how_somebody_is(text: str) -> None:
    assert not has_verb(text)


def test_the_output_says_what_has_told_verbs(model: str) -> None:
    texts = ["He rows home", "He swam", "", "a boat"]

    assert texts_with_verbs(texts) == ({"He rows home", "He swam"}, RULE)
    by_model = texts_with_verbs(texts, model)
    assert by_model == ({"He rows home"}, "the tagger of spaCy's en_rowing 1.2.3")


def test_a_model_that_cannot_tell_is_refused_in_a_line(tmp_path: Path) -> None:
    spacy_library().blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(ScoreError, match="it has no tagger; give a model that has one"):
        texts_with_verbs(["a boat"], str(tmp_path / "blank"))
    with pytest.raises(ScoreError, match="--tagger none_such: it cannot be loaded") as caught:
        texts_with_verbs(["a boat"], "none_such")
    assert "\n" not in str(caught.value)


def test_questions_with_a_verb_in_either_answer_are_scored_apart(
    tmp_path: Path, model: str
) -> None:
    gold = {"a": ["a boat", "she sold it"], "b": ["Marta", "Marta"], "c": ["he rows", "home"]}
    answers = {"a": "a boat", "b": "Marta", "c": "nothing"}
    paths = tmp_path / "answers.json", tmp_path / "gold.json"
    for path, content in zip(paths, (answers, gold), strict=True):
        path.write_text(json.dumps(content), "utf-8")

    by_rule = score(*paths, {"events": True})
    by_model = score(*paths, {"tagger": model})

    assert by_rule["groups"]["event-only"]["EM"] == 0.5
    assert by_rule["groups"]["event-only"]["share"] == pytest.approx(2 / 3)
    assert by_rule["rows"][-1][:3] == ["event-only", "2", "66.7"]
    assert by_rule["notes"][-1] == (
        f"event-only: 2 of 3 questions, which have a verb in one of their answers, by {RULE}."
    )
    assert by_model["groups"]["event-only"]["questions"] == 1
    assert "by the tagger of spaCy's en_rowing 1.2.3." in by_model["notes"][-1]
    paths[1].write_text(json.dumps({"b": ["Marta"]}), "utf-8")
    none = score(*paths, {"events": True})
    assert none["groups"] == {}
    assert none["notes"][-1].startswith("event-only: 0 of 1 questions")


def test_the_rule_finds_most_of_the_published_questions_that_a_tagger_finds() -> None:
    """Of 586 published questions the small English model of spaCy 3.8 finds 220."""
    data = os.environ.get("COLLECTOR_DATA")
    if not data:
        pytest.skip("COLLECTOR_DATA is not set: it names the folder of real data.")
    lines = Path(data, "replay/narrativeqa_books.jsonl").read_text("utf-8").splitlines()
    answers = [json.loads(line)["answers_tokens"] for line in lines]

    assert len(answers) == 586
    assert sum(any(map(has_verb, pair)) for pair in answers) == 198
