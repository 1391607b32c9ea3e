"""Nothing that a question of test rests on is in train: the documents of its evidence decide."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from annotation.protocols.rag.parameters import Parameters
from annotation.protocols.rag.splits import assign
from annotation.protocols.rag.tests.conftest import WRITER, publish_small, write_documents
from annotation.protocols.rag.tests.test_seeds import ingest
from annotation.protocols.rag.tests.test_whole_way import read_all
from annotation.splits.assignment import make_splits, resting_on
from collector.models import Collection
from collector.protocols.loading import get_protocol
from collector.protocols.parameters import FOLDS
from collector.seeds.candidate import PLANNED
from tasks.models import Question
from tasks.tests.making import NOW
from tests.page_workers import Person, look, run

pytestmark = pytest.mark.django_db
READERS = ("AEDITH", "AIDA", "AGRACE")
SAME = {"document": "carrow.md", "paragraph": 0, "start": 0, "end": 3}


def prove_by_one_passage(state: dict[str, Any], data: dict[str, Any]) -> None:
    for answer in data["answers"]:
        answer |= {"type": "answer", "short": "a harbour", "full": "It is a harbour."}
        answer |= {"evidence": [SAME], "reason": ""}


def released(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the released questions by split."""
    files = {fold: json.loads((folder / f"{fold}.json").read_text()) for fold in FOLDS}
    return {
        fold: [one for seed in file["data"] for one in seed["qas"]] for fold, file in files.items()
    }


def rest(question: dict[str, Any]) -> set[str]:
    """Return the passages that were shown for a released question and those that prove it."""
    kinds = ("evidence", "other_evidence", "plausible_evidence")
    return set(question["shown"]) | {one["passage_id"] for kind in kinds for one in question[kind]}


def test_a_passage_that_proves_answers_is_in_one_split_wherever_its_questions_were_planned(
    asked: Collection, tmp_path: Path
) -> None:
    naturally = Question.objects.filter(stage__name="natural")
    assert set(naturally.values_list("seed__fold", flat=True)) == set(FOLDS)
    for name in READERS:
        Person(name, asked).work("find", prove_by_one_passage)
    read_all(asked)
    run("make_splits", asked.slug)
    run("export_dataset", asked.slug, out=tmp_path / "out")
    by_split = released(tmp_path / "out")
    places = {
        fold for fold, found in by_split.items() for one in found if one["source"] == "natural"
    }
    assert len(places) == 1
    resting = {fold: set().union(*map(rest, found)) for fold, found in by_split.items()}
    assert resting["test"].isdisjoint(resting["train"] | resting["dev"])
    assert resting["train"].isdisjoint(resting["dev"])


def test_a_passage_nearly_the_same_as_anothers_is_the_same(
    tmp_path: Path, settings: Any, monkeypatch: Any
) -> None:
    folder = write_documents(tmp_path / "own")
    carrow = (folder / "carrow.md").read_text("utf-8")
    # Too short to be drawn beside the others; found by search all the same.
    (folder / "copy.md").write_text(carrow.replace("Carrow", "Carrow Minor", 1), "utf-8")
    ingest(folder, "coast")
    collection = publish_small("coast", 3, tmp_path, settings, monkeypatch)
    ada = Person(WRITER, collection)
    assert ada.work("natural")
    assert ada.work("question")
    look(collection)
    marks = iter([SAME, {**SAME, "document": "copy.md"}] * 9)

    def prove(state: dict[str, Any], data: dict[str, Any]) -> None:
        prove_by_one_passage(state, data)
        for answer in data["answers"]:
            answer["evidence"] = [next(marks)]

    for name in READERS:
        Person(name, collection).work("find", prove)
    read_all(collection)
    kept = Question.objects.filter(stage__name="natural", verdict__outcome="kept")
    found = resting_on(collection, kept)
    assert len(found) == 3
    passages = [{name for name in each if "#" in name} for each in found.values()]
    assert passages == [{"carrow.md#0"}] * 3
    make_splits(collection, NOW)
    assert len(set(kept.values_list("split_assignment__split", flat=True))) == 1


def placed(*examples: dict[str, Any], **redundancy: int) -> list[tuple[str, str]]:
    """Return the split and the reason of each example, with so many answers in some folds."""
    parameters: Any = get_protocol("rag").parameters()
    assert isinstance(parameters, Parameters)
    if redundancy:
        table = parameters.find.redundancy.model_copy(update=redundancy)
        parameters = parameters.model_copy(
            update={"find": parameters.find.model_copy(update={"redundancy": table})}
        )
    found = {
        str(one["key"]): (split, reason)
        for one, split, reason in assign(reversed(examples), parameters, random.Random(0))
    }
    return [found[one["key"]] for one in examples]


def asks(key: str, fold: str, **rests_on: str) -> dict[str, Any]:
    return {"key": key, "fold": fold, "rests_on": rests_on}


def test_the_fold_of_the_document_that_proves_it_decides_and_without_any_the_planned_one() -> None:
    assert placed(
        asks("a", "train", seen="train"),
        asks("b", "train", told="test"),
        asks("c", "dev", unseen=""),
        asks("d", "test"),
    ) == [
        ("train", PLANNED),
        ("test", "It is in the split of the passages that it rests on."),
        ("dev", PLANNED),
        ("test", PLANNED),
    ]


def test_what_several_questions_rest_on_is_where_most_of_its_documents_were_planned() -> None:
    one, two = asks("a", "train", seen="train", told="test"), asks("b", "test", told="test")
    assert [split for split, _ in placed(one, two)] == ["test", "test"]
    others = [asks(key, "train", seen="train") for key in "cde"]
    assert {split for split, _ in placed(one, two, *others)} == {"train"}


def test_no_question_comes_to_a_split_for_which_it_had_too_few_answers() -> None:
    asked = asks("a", "train", told="test"), asks("b", "test", told="test")
    assert {split for split, _ in placed(*asked)} == {"test"}
    assert {split for split, _ in placed(*asked, test=3)} == {"train"}
