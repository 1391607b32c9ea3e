"""From rows to official files: the sample, true offsets, and the paper's breakdowns of scores."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotation.protocols.iirc.official_files import TAG
from annotation.protocols.iirc.tests.island import island
from annotation.release.publish_release import publish_release
from annotation.splits.assignment import make_splits
from annotation.tests.making import NOW, make_question, make_seed, make_verdict
from collector.models import Collection

pytestmark = pytest.mark.django_db
SAMPLE = Path(__file__).parent.parent / "sample.json"
OFFICIAL = ("train.json", "dev.json", "test.json", "context_articles.json")


@pytest.fixture
def collection() -> Collection:
    """Return a decided and placed collection."""
    made = island()
    make_splits(made, NOW)
    return made


def released(collection: Collection, folder: Path) -> dict[str, Any]:
    """Return the official files of a release."""
    made = publish_release(collection, folder, NOW).folder
    return {name: json.loads((made / name).read_text()) for name in OFFICIAL}


def test_rows_become_the_sample(collection: Collection, tmp_path: Path) -> None:
    assert released(collection, tmp_path / "out") == json.loads(SAMPLE.read_text())


def test_every_offset_is_true_in_the_released_texts(collection: Collection, tmp_path: Path) -> None:
    files = released(collection, tmp_path / "out")
    articles = files["context_articles.json"]
    checked = 0
    for fold in ("train", "dev", "test"):
        for passage in files[f"{fold}.json"]:
            for link in passage["links"]:
                start, end = link["indices"]
                assert passage["text"][start:end]
            for question in passage["questions"]:
                texts = {"main": passage["text"], "question": question["question"]}
                spans = [
                    (span["passage"], *span["indices"], span["text"])
                    for span in question["context"]
                ]
                spans += [
                    (span["passage"], span["start"], span["end"], span["text"])
                    for span in question["answer"].get("answer_spans", [])
                ]
                for document, start, end, text in spans:
                    if document not in texts:
                        texts[document] = TAG.sub("", articles[document.lower()])
                    assert texts[document][start:end] == text
                    checked += 1
    assert checked == 10


def test_ids_do_not_depend_on_what_was_kept(collection: Collection, tmp_path: Path) -> None:
    before = released(collection, tmp_path / "before")["train.json"]
    seed = collection.seeds.get(fold="train")
    first = seed.questions.order_by("position").first()
    first.verdict.outcome, first.verdict.chosen = "dropped", None
    first.verdict.save()
    after = released(collection, tmp_path / "after")["train.json"]
    assert after[0]["pid"] == before[0]["pid"]
    assert [asked["qid"] for asked in after[0]["questions"]] == [before[0]["questions"][1]["qid"]]


def test_a_passage_without_a_kept_question_is_left_out_and_equal_ones_are_told_apart(
    collection: Collection, tmp_path: Path
) -> None:
    paragraph = collection.seeds.get(fold="train").seed_paragraphs.get().paragraph
    twin = make_seed(collection, paragraph)
    asked = make_question(twin, "How many people live on the island of the harbour?")
    make_verdict(asked)
    assert len(released(collection, tmp_path / "one")["train.json"]) == 1
    other = collection.seeds.get(fold="train", position=1).questions.get(position=0)
    asked.verdict.outcome, asked.verdict.chosen = "kept", other.verdict.chosen
    asked.verdict.save()
    vote = other.answers.get()
    vote.pk, vote.question = None, asked
    vote.save()
    asked.verdict.chosen = vote
    asked.verdict.save()
    make_splits(collection, NOW)
    passages = released(collection, tmp_path / "two")["train.json"]
    assert passages[0]["text"] == passages[1]["text"]
    assert passages[0]["pid"] != passages[1]["pid"]
    assert len({question["qid"] for each in passages for question in each["questions"]}) == 3


def test_a_release_is_scored_by_links_and_by_type(collection: Collection, tmp_path: Path) -> None:
    folder = publish_release(collection, tmp_path / "out", NOW).folder
    gold = json.loads((folder / "test.json").read_text())
    qids = [question["qid"] for passage in gold for question in passage["questions"]]
    predictions = tmp_path / "predictions.json"
    predictions.write_text(json.dumps({qids[0]: ["Port Ellan", "1702"], qids[1]: "Ida Brook"}))
    found = {}
    for by in ("links", "answer-type"):
        printed = StringIO()
        files = [str(predictions), str(folder / "test.json")]
        call_command("score", "--protocol", "iirc", *files, "--by", by, "--json", stdout=printed)
        found[by] = json.loads(printed.getvalue())
    right, wrong = {"global_em": 1.0, "global_f1": 1.0}, {"global_em": 0.0, "global_f1": 0.0}
    assert found["links"]["by"] == {"0": wrong, "2": right}
    assert found["answer-type"]["by"] == {"none": wrong, "span": right}
    assert found["links"]["global_em"] == 0.5
