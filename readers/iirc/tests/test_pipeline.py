"""The pipeline and the detectors by their command: trained, answering, scored."""

import json
import random
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from shutil import copytree
from typing import Any, cast

import pytest
import torch
from django.core.management import CommandError, call_command

from annotation.protocols.iirc.baselines import TRAINED
from annotation.protocols.iirc.official_files import MAIN
from readers.iirc.pipeline import evidence_of, learned_contexts
from readers.iirc.questions import (
    Articles,
    Asked,
    read_linked,
    read_questions,
)
from readers.iirc.retrieval import Context, Retrieval
from readers.iirc.tests.lighthouses import write_files
from readers.tests.tiny_encoders import save_encoder, tiny_encoder
from readers.trained import ReaderError
from readers.trainer.recipe import Recipe
from readers.trainer.run import Run

torch.set_num_threads(1)

RECIPE = """
epochs = 1
batch = 8
accumulate = 1
learning_rate = 1e-3
[reader]
learning_rate = 1e-3
batch = 8
accumulate = 1
"""


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Any]:
    """Return the options of a run on invented lighthouses."""
    found = write_files(tmp_path)
    recipe = tmp_path / "own.toml"
    recipe.write_text(RECIPE)
    return {
        "protocol": "iirc",
        "train": [found["train"]],
        "dev": found["dev"],
        "out": tmp_path / "out",
        "recipe": str(recipe),
        "encoder": str(found["encoder"]),
    }


def run(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the card of a run that is trained."""
    call_command("baseline", name, stdout=StringIO(), stderr=StringIO(), **options)
    card: dict[str, Any] = json.loads((options["out"] / "card.json").read_text())
    return card


@pytest.mark.parametrize("name", list(TRAINED))
def test_every_baseline_answers_in_the_official_layout_and_is_scored(
    files: dict[str, Any], name: str
) -> None:
    card = run(name, files)
    answers = json.loads((files["out"] / "predictions.json").read_text())
    assert list(answers) == [asked.key for asked in read_questions([files["dev"]])]
    assert all(isinstance(answer, str) for answer in answers.values())
    assert set(card["scores"]) == {"global_em", "global_f1"}
    if name.startswith("pipeline"):
        assert set(card["groups"]) == {"1", "2", "span", "value", "binary", "none"}
        assert ("links" in card["facts"]) == (name == "pipeline")
    else:
        assert "unanswerable_f1" in card["beside"]
        assert set(answers.values()) <= {"", "none"}


def test_the_reader_learns_from_each_files_own_contexts_where_questions_have_no_ids(
    tmp_path: Path,
) -> None:
    paths = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        paths.append(write_files(tmp_path / name)["train"])
    for at, path in enumerate(paths):
        passages = json.loads(path.read_text())[3 * at : 3 * at + 3]
        for question in (each for one in passages for each in one["questions"]):
            del question["qid"]
        path.write_text(json.dumps(passages))
    questions = read_questions(paths)
    learned = learned_contexts(cast(Retrieval, Finds()), questions)
    assert len(learned) == 24
    for asked, contexts in zip(questions, learned, strict=True):
        gold = [*evidence_of(asked)] or [Context(MAIN, asked.passage, 0, 1)]
        assert contexts == gold


class Finds:
    """A retrieval that finds each question's own passage."""

    def predicted_links(self, questions: Sequence[Asked]) -> list[tuple[str, ...]]:
        return [() for _ in questions]

    def predicted_contexts(
        self, questions: Sequence[Asked], links: Sequence[Sequence[str]]
    ) -> list[list[Context]]:
        return [[Context(MAIN, asked.passage, 0, 1)] for asked in questions]


@pytest.mark.parametrize(
    ("labels", "precision", "recall"), [("evidence", 2 / 5, 2 / 3), ("picked", 4 / 5, 4 / 5)]
)
def test_links_that_are_chosen_where_nothing_answers_are_wrong_as_the_paper_labels_them(
    files: dict[str, Any], labels: str, precision: float, recall: float
) -> None:
    questions = read_questions(files["train"])[:4]
    recipe = Recipe("test", {"links": {"labels": labels}})
    run = Run("iirc", "pipeline", (), files["dev"], files["out"], recipe)
    untrained: Any = None
    retrieval = Retrieval(run, Articles({}), untrained, untrained, untrained)
    # Three need one article each. Of the fourth, which has no answer, its writer picked two.
    chosen = [asked.picked for asked in questions]
    assert [len(of) for of in chosen] == [1, 1, 1, 2]
    found = retrieval.links_agreement(questions, [("Nowhere",), *chosen[1:]])
    assert (found.precision, found.recall) == pytest.approx((precision, recall))


def test_a_file_without_answers_is_answered_by_what_was_trained(
    files: dict[str, Any], tmp_path: Path
) -> None:
    run("pipeline", files)
    asked = write_files_without_answers(tmp_path)
    call_command(
        "baseline",
        "pipeline",
        out=files["out"],
        predict=asked,
        stdout=StringIO(),
        stderr=StringIO(),
    )
    answers = json.loads((files["out"] / "predictions-asked.json").read_text())
    assert answers == json.loads((files["out"] / "predictions.json").read_text())


def write_files_without_answers(tmp_path: Path) -> Path:
    """Return dev's questions as a file that withholds their answers."""
    folder = tmp_path / "asked"
    folder.mkdir()
    return write_files(folder, answered=False)["dev"].rename(folder / "asked.json")


def test_of_a_folder_of_models_each_stage_takes_the_one_the_recipe_names(
    files: dict[str, Any], tmp_path: Path
) -> None:
    models = tmp_path / "models"
    copytree(files["encoder"], models / "bert-base-uncased")
    texts = [path.read_text("utf-8") for path in tmp_path.glob("*.json")]
    save_encoder(tiny_encoder(texts, random.Random(2), width=8), models / "roberta-large")
    card = run("pipeline", {**files, "encoder": str(models)})
    assert card["encoder"] == str(models / "bert-base-uncased")
    names = [str(models / name) for name in ("bert-base-uncased", "roberta-large")]
    assert list(card["encoders"]) == names
    assert len(set(card["encoders"].values())) == 2
    # 32 and 8 numbers of each piece.
    for stage, width in (("links", 32), ("contexts", 32), ("reader", 8)):
        path = next((files["out"] / stage).glob("weights-*.pt"))
        found = [value for key, value in torch.load(path).items() if "word_embeddings" in key]
        assert [value.shape[1] for value in found] == [width]
    answered = write_files_without_answers(tmp_path)
    call_command("baseline", "pipeline", out=files["out"], predict=answered, stdout=StringIO())
    again = json.loads((files["out"] / "predictions-asked.json").read_text())
    assert again == json.loads((files["out"] / "predictions.json").read_text())


def test_a_folder_that_lacks_a_stages_model_is_refused(
    files: dict[str, Any], tmp_path: Path
) -> None:
    models = tmp_path / "models"
    copytree(files["encoder"], models / "bert-base-uncased")
    with pytest.raises(CommandError) as refused:
        run("pipeline", {**files, "encoder": str(models)})
    told = f"--encoder {models}: neither a model nor a folder with roberta-large in it."
    assert str(refused.value) == told
    assert not list(files["out"].rglob("*.pt"))


def test_an_estimate_measures_all_stages_and_trains_nothing(files: dict[str, Any]) -> None:
    out = StringIO()
    call_command(
        "baseline", "pipeline", stdout=out, stderr=StringIO(), estimate=True, json=True, **files
    )
    found = json.loads(out.getvalue())
    assert [stage["name"] for stage in found["stages"]] == ["links", "contexts", "reader"]
    # 6 unanswerable ones of train, 2 of dev; then the 8 of dev, each with its passage and articles.
    items = {each["stage"]: each["items"] for each in found["answers"]}
    assert items == {
        "links": 6 + 2 + 8,
        "contexts": 3 * 6 + 3 * 2 + (3 + 2 + 2 + 2) * 2,
        "reader": 8,
    }
    assert all(each["seconds"] > 0 for each in found["answers"])
    assert not files["out"].exists() or not list(files["out"].rglob("*.pt"))


def test_articles_that_are_nowhere_are_asked_for(tmp_path: Path) -> None:
    train = write_files(tmp_path)["train"]
    (tmp_path / "context_articles.json").unlink()
    with pytest.raises(ReaderError, match=r"give context_articles\.json with --train"):
        read_linked([train])


def test_a_wrong_file_is_refused_in_one_line(files: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "context_articles.json").write_text("[]")
    with pytest.raises(CommandError, match="it must be an object from title to article"):
        run("pipeline", files)
    files["dev"].write_text("{")
    with pytest.raises(CommandError, match=r"dev\.json: it is not valid JSON"):
        run("pipeline", {**files, "out": tmp_path / "other"})
