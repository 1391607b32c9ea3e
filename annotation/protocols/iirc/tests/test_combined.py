"""A release beside questions of SQuAD and DROP: a fifth, three to one, no test question."""

import json
import random
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from annotation.protocols.iirc.combined import drawn, n_questions
from annotation.protocols.iirc.export import import_
from annotation.protocols.iirc.official_files import NONE, Answer, Passage, Question
from annotation.protocols.iirc.parameters import CombinedTable, defaults
from annotation.protocols.iirc.tests.island import island
from annotation.release.dataset_card import FILE as CARD
from annotation.release.release_files import PRIVATE_CARD
from annotation.tests.making import make_article
from collector.models import Corpus

pytestmark = pytest.mark.django_db


def passages(sizes: list[int], name: str) -> list[Passage]:
    """Return passages with so many questions each."""
    return [
        Passage(
            f"{name}{at}",
            name,
            f"{name} {at}",
            (),
            tuple(
                Question(f"{name}{at}_{nth}", "Why?", (), (), Answer(NONE)) for nth in range(size)
            ),
        )
        for at, size in enumerate(sizes)
    ]


sizes = st.lists(st.integers(1, 5), max_size=40)


@given(sizes, sizes, st.tuples(st.integers(0, 300), st.integers(0, 60)), st.integers(0, 99))
def test_others_are_a_fifth_at_most_three_to_one_and_no_passage_is_in_two_folds(
    squad: list[int], drop: list[int], own: tuple[int, int], seed: int
) -> None:
    others = passages(squad, "squad"), passages(drop, "drop")
    found = drawn(own, *others, defaults().combined, random.Random(seed))
    assert len(found) == 2
    for number, fold in zip(own, found, strict=True):
        assert fold.number <= fold.wanted == round(number / 4)
        assert abs(n_questions(fold.drop) - fold.number / 4) <= 0.5
    folds = [{one.pid for one in (*fold.squad, *fold.drop)} for fold in found]
    assert folds[0].isdisjoint(folds[1])


def test_where_there_are_enough_a_fifth_is_drawn_or_what_the_parameters_say() -> None:
    squad, drop = passages([3] * 400, "squad"), passages([3] * 400, "drop")
    found = drawn([400, 80], squad, drop, defaults().combined, random.Random(1))
    assert [fold.number for fold in found] == [100, 20]
    assert [n_questions(fold.squad) for fold in found] == [75, 15]
    half = CombinedTable(others_percent=50, squad_parts=1, drop_parts=1)
    found = drawn([400, 80], squad, drop, half, random.Random(1))
    assert [fold.number for fold in found] == [400, 80]
    assert [n_questions(fold.squad) for fold in found] == [200, 40]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Any]:
    """Return the options of the command for a released collection about an island."""
    collection = island()
    collection.parameters["combined"]["others_percent"] = 60
    collection.save(update_fields=["parameters"])
    call_command("make_splits", collection.slug, stdout=StringIO())
    call_command("export_dataset", collection.slug, out=tmp_path / "release", stdout=StringIO())
    text = "Ida Brook lived in Port Ellan until 1881."
    answer = {"text": "1881", "answer_start": text.index("1881")}
    asked = [{"question": f"Until when, {at}?", "answers": [answer]} for at in range(4)]
    paragraphs = [{"context": f"{text} ({at}.)", "qas": asked[:2]} for at in range(4)]
    squad = {"data": [{"title": "Lives", "paragraphs": paragraphs}]}
    pair = {"question": "How many years?", "answer": {"number": "3", "spans": [], "date": {}}}
    found = {"squad": tmp_path / "train-v2.0.json", "drop": tmp_path / "drop_train.json"}
    found["squad"].write_text(json.dumps(squad))
    took = {
        f"p{at}": {"passage": f"It took 3 years. ({at}.)", "qa_pairs": [pair]} for at in range(4)
    }
    found["drop"].write_text(json.dumps(took))
    return {"name": collection.slug, "out": tmp_path / "combined", **found}


def make(options: dict[str, Any]) -> str:
    """Return what the command prints."""
    out = StringIO()
    rest = {name: value for name, value in options.items() if name != "name"}
    call_command("make_combined", options["name"], stdout=out, stderr=StringIO(), **rest)
    return out.getvalue()


def test_the_release_stands_beside_others_questions_with_links_of_the_corpus(
    files: dict[str, Any], tmp_path: Path
) -> None:
    told = json.loads(make({**files, "json": True}))
    release, made = tmp_path / "release", files["out"]
    assert {path.name for path in made.iterdir()} == {
        "train.json",
        "dev.json",
        "dev_combined.json",
        "context_articles.json",
    }
    assert (made / "dev.json").read_bytes() == (release / "dev.json").read_bytes()
    own = json.loads((release / "train.json").read_text())
    train = json.loads((made / "train.json").read_text())
    assert train[: len(own)] == own
    others = train[len(own) :]
    assert {one["title"][:1] for one in others} == {"L", "p"}
    lives = next(one for one in others if one["title"] == "Lives")
    assert [link["target"] for link in lives["links"]] == ["Ida Brook", "Port Ellan"]
    assert told["written"]["train.json"] == sum(len(one["questions"]) for one in train)
    assert set(told["wikifier"]["columns"]) >= {"precision share", "recall share"}
    import_(
        {path.name: path.read_bytes() for path in made.iterdir() if "combined" not in path.name}
    )
    call_command(
        "score",
        predictions_of(made / "train.json"),
        made / "train.json",
        protocol="iirc",
        stdout=StringIO(),
    )


def test_an_article_whose_title_differs_in_case_from_a_known_one_is_added(
    files: dict[str, Any],
) -> None:
    make_article(Corpus.objects.get(), "PORT ELLAN", "A ship of steel.")
    squad = files["squad"].read_text()
    files["squad"].write_text(squad.replace("lived in Port Ellan", "lived on PORT ELLAN"))
    make(files)
    articles = json.loads((files["out"] / "context_articles.json").read_text())
    assert articles["PORT ELLAN"] == "A ship of steel."
    assert articles["port ellan"].startswith("Port Ellan was founded")


def predictions_of(path: Path) -> Path:
    """Return a file that says "none" to every question of a file."""
    asked = [each for one in json.loads(path.read_text()) for each in one["questions"]]
    predictions = path.with_name("predictions.json")
    predictions.write_text(json.dumps({each["qid"]: "none" for each in asked}))
    return predictions


def test_it_is_drawn_alike_by_the_same_seed(files: dict[str, Any], tmp_path: Path) -> None:
    make(files)
    make({**files, "out": tmp_path / "again"})
    for path in files["out"].iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()


def test_no_question_of_the_test_fold_is_written(files: dict[str, Any], tmp_path: Path) -> None:
    make(files)
    test = json.loads((tmp_path / "release" / "test.json").read_text())
    secret = [each["qid"] for one in test for each in one["questions"]]
    assert secret
    for path in files["out"].iterdir():
        text = path.read_text()
        assert not [qid for qid in secret if qid in text]


def test_files_that_test_systems_or_are_withheld_are_refused(
    files: dict[str, Any], tmp_path: Path
) -> None:
    test = files["squad"].rename(tmp_path / "test-v2.0.json")
    with pytest.raises(CommandError, match="by its name it tests systems"):
        make({**files, "squad": test})
    private = tmp_path / "private"
    private.mkdir()
    (private / CARD).write_text(PRIVATE_CARD)
    hidden = files["drop"].rename(private / "drop_train.json")
    with pytest.raises(CommandError, match="the answers in this folder are withheld"):
        make({**files, "squad": hidden, "drop": hidden})
    assert not files["out"].exists()


def test_what_cannot_be_combined_is_said_in_one_line(files: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"train-v2\.0\.json: it is no file of DROP's layout"):
        make({**files, "drop": files["squad"]})
    with pytest.raises(CommandError, match="Which --drop"):
        make({name: value for name, value in files.items() if name != "drop"})
    with pytest.raises(CommandError, match="is there already"):
        make({**files, "out": tmp_path})
    assert not files["out"].exists()
