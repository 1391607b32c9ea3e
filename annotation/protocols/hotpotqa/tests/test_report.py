"""The paper's tables of a collection, of hand labels, and of a system's predictions."""

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from annotation.metrics.result import ScoreError
from annotation.models import Context
from annotation.protocols.hotpotqa.file_format import seed_records
from annotation.protocols.hotpotqa.report import HELD_OUT, TRAIN, Ranks, counted, drawn, examples_of
from annotation.protocols.hotpotqa.tests.items import item, record
from annotation.protocols.hotpotqa.tests.pairs import pairs, read_again
from annotation.reports.collection import identified, tables_of, tables_of_predictions
from annotation.tables.table import Table
from annotation.tests.making import NOW, make_submission
from collector.models import Collection
from tasks.models import Question, Skip


def by_name(tables: list[Table]) -> dict[str, dict[Any, Any]]:
    """Return each table as its first cells with the rest of their rows."""
    return {table.name: {row[0]: list(row[1:]) for row in table.rows} for table in tables}


def of_split(collection: Collection, split: str) -> Question:
    """Return the one question of the split."""
    return Question.objects.get(stage__collection=collection, split_assignment__split=split)


@pytest.mark.django_db
def test_every_table_says_what_the_rows_hold() -> None:
    collection = pairs()
    dev, test = (of_split(collection, split) for split in ("dev", "test-fullwiki"))
    facts = [[0, 0], [1, 1]]
    given = dev.answers.get().payload["spans"][0]["text"]
    read_again(dev, (given, facts), ("no", [[0, 0]]), (given, facts))
    for question, ranks in ((dev, [1, 3]), (test, [8, 2])):
        Context.objects.filter(question=question, setting="fullwiki").update(
            pool=7, gold_ranks=ranks, answer_rank=ranks[1]
        )
    skipped = make_submission(dev.stage, worker="edith")
    Skip.objects.create(
        stage=dev.stage,
        submission=skipped,
        seed=dev.seed,
        worker=skipped.lease.worker,
        reason="No link between the two.",
        created_at=NOW,
    )
    found = by_name(tables_of(collection))
    assert found["splits"]["dev"] == ["hard multi-hop", 1, 1 / 6]
    assert found["size"]["supporting facts per example"][:2] == [2, 2]
    assert found["question_lengths"] == {"1–5": [6, 1]}
    assert found["question_types"]["who"][-2:] == [6, 1]
    assert found["answer_types"]["proper name"] == [6, 1]
    assert found["retrieval"]["dev"][:2] == [1, pytest.approx(100 * (1 + 2 / 3) / 2)]
    assert found["retrieval"]["dev"][2:] == [2, 50, 100, 3]
    assert found["human_performance"]["human"] == [1, 100, 100, 100, 100, 100, 100]
    assert found["pairs"]["harbours"] == ["bridge", 6, 1, 6, 6, 1 / 7]
    assert found["outcomes"]["kept"] == ["answered_by_its_writer", *[1] * 6, 6, 1]


@pytest.mark.django_db
def test_simulated_readers_are_no_people() -> None:
    collection = pairs()
    dev = of_split(collection, "dev")
    given = dev.answers.get().payload["spans"][0]["text"]
    read_again(dev, ("no", [[0, 0]]), (given, [[0, 0]]))
    before = by_name(tables_of(collection))["human_performance"]
    again = dev.answers.filter(stage__name="human_performance")
    again.filter(pk=again.latest("pk").pk).update(synthetic=True)
    last = {table.name: table for table in tables_of(collection)}
    assert before["human"][:2] == [1, 100]
    assert by_name([*last.values()])["human_performance"]["human"][:2] == [1, 0]
    told = "1 of 8 answers"
    assert last["human_performance"].simulated == f"Simulated work is left out: {told}."
    assert last["size"].simulated == f"Simulated work is left out: {told}."
    Question.objects.filter(pk=dev.pk).update(synthetic=True)
    last = {table.name: table for table in tables_of(collection)}
    assert not last["human_performance"].rows
    assert last["size"].simulated == f"With simulated work: 1 of 6 questions, {told}."


def test_what_was_searched_for_before_is_in_no_later_sample_of_train_medium() -> None:
    ranks = Ranks(2)
    keys = ["k1", "k2", "k3", "k4"]
    found = {"gold": [1, 2], "answer": 1, "pool": 5}
    seeds = [record("train-medium", id=key, key=key, ranks=found) for key in keys]
    for example in examples_of(seeds):
        ranks.add(example)
    assert by_name(ranks.tables())["retrieval_compared"]["train-medium"][0] == 2
    assert not any(table.rows for table in Ranks(2).tables())


def test_retrieval_is_compared_on_as_many_questions_of_each_split() -> None:
    ranks = Ranks(2)
    found = {"gold": [1, 2], "answer": 1, "pool": 5}
    for split in ("train-medium", "dev", "test-fullwiki"):
        seeds = [record(split, id=f"{split}{n}", key=f"{split}{n}", ranks=found) for n in range(3)]
        for example in examples_of(seeds):
            ranks.add(example)
    tables = by_name(ranks.tables())
    assert {split: row[0] for split, row in tables["retrieval"].items()} == {
        "dev": 3,
        "test-fullwiki": 3,
    }
    assert {row[0] for row in tables["retrieval_compared"].values()} == {2}


@pytest.mark.django_db
def test_predictions_are_scored_by_split_and_type(tmp_path: Path) -> None:
    collection = pairs()
    ids = {
        question["split"]: question["id"]
        for seed in identified(collection)
        for question in seed["questions"]
    }
    path = tmp_path / "predictions.json"
    given = {"answer": {ids["dev"]: "KeeperTown3B"}, "sp": {ids["dev"]: [["Town3B", 1]]}}
    path.write_text(json.dumps(given))
    found = by_name(tables_of_predictions(collection, path))["scores"]
    assert list(found) == ["dev", "dev, bridge"]
    assert found["dev"] == [1, 100, 100, 0, pytest.approx(200 / 3), 0, pytest.approx(200 / 3)]
    path.write_text(json.dumps({"answer": {"x": "yes"}, "sp": {}}))
    (table,) = tables_of_predictions(collection, path)
    assert not table.rows
    assert "use a release's ids" in table.note


def labelled_rows() -> list[dict[str, str]]:
    """Return a sample of two examples of each group."""
    seeds = [record(split, f"{split}?", id=split) for split in ("dev", "train-hard", "train-easy")]
    return drawn(examples_of(seeds), 100, random.Random(1))


def test_the_sample_is_of_both_groups_and_knows_no_order() -> None:
    rows = labelled_rows()
    assert [row["sample"] for row in rows] == [HELD_OUT, TRAIN]
    assert rows[0]["facts"] == "She was born in Staithby.\nIt was founded in 1702."
    assert rows[0]["paragraph_b"].startswith("Staithby: Staithby is a harbour.")
    many = list(examples_of(record("dev", f"{n}?", id=str(n)) for n in range(150)))
    forward, backward = (drawn(each, 100, random.Random(1)) for each in (many, many[::-1]))
    assert len(forward) == 100
    assert forward == backward


def test_train_medium_and_dev_are_labelled_apart_too() -> None:
    splits = ["train-medium", "train-hard", "dev", "test-fullwiki"]
    many = [record(split, f"{n}?", id=f"{split}{n}") for n in range(120) for split in splits]
    rows = drawn(examples_of(many), 100, random.Random(1))
    assert Counter(row["sample"] for row in rows)[HELD_OUT] == 100
    assert Counter(row["split"] for row in rows)["dev"] == 100
    assert Counter(row["split"] for row in rows)["train-medium"] == 100
    for row in rows:
        hop = "II" if row["split"] == "train-medium" else "single-hop"
        row |= {"reasoning": hop, "answer_type": "date"}
    found = by_name(counted(rows))
    assert found["checked"]["train-medium"] == [100, 1, 0.933, 1, 0.32]
    assert found["checked"]["dev"] == [100, 0, 0.92, 0, 0.15]
    assert sum(row[0] for row in found["reasoning"].values()) == 100


def test_labels_are_counted() -> None:
    rows = labelled_rows()
    rows[0] |= {"reasoning": "i", "answer_type": "date"}
    found = by_name(counted(rows))
    assert found["reasoning"]["I: bridge entity to complete the second hop"][:3] == [1, 1, 0.42]
    assert found["answers_by_hand"]["date"] == [1, 1]
    assert counted(rows)[0].note == "1 examples are labelled, 1 wait."
    for change, sentence in (
        ({"reasoning": "IV"}, "Row 1: reasoning must be one of I, II"),
        ({"answer_type": ""}, "label all of reasoning, answer_type, or none"),
    ):
        with pytest.raises(ScoreError, match=sentence):
            counted([rows[0] | change])
    with pytest.raises(ScoreError, match="no column sample"):
        counted([{}])


def test_published_files_have_their_tables_too() -> None:
    given = {"dev_fullwiki.json": json.dumps([item(context=[])]).encode()}
    (example,) = examples_of(seed_records(given))
    assert example.reply.facts == ((0, 1), (1, 1))
    assert [passage["title"] for passage in example.pair] == ["Ada Harrow", "Staithby"]
    assert list(example.facts()) == ["", ""]
