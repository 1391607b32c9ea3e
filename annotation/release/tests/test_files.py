"""Votes, assignment log, attribution, card and metadata, as their readers find them."""

import csv
import json
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import pytest

from annotation.protocols.iirc.tests.island import island
from annotation.release import votes_table
from annotation.release.assignment_log import assignment_lines
from annotation.release.publish_release import publish_release
from annotation.release.records import records
from annotation.splits.assignment import make_splits
from annotation.tests.making import NOW, make_answer
from collector.models import Collection
from collector.protocols.revisions import revise
from tasks.models import Question, Submission, UnitItem

pytestmark = pytest.mark.django_db


def release(collection: Collection, folder: Path) -> Path:
    """Return the folder of a release of the collection."""
    make_splits(collection, NOW)
    return publish_release(collection, folder, NOW).folder


def table(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a Parquet file."""
    from pyarrow import parquet

    return parquet.read_table(path).to_pylist()


def test_every_vote_is_there_dropped_questions_and_second_readings_too(tmp_path: Path) -> None:
    collection = island()
    make_answer(
        Question.objects.get(text="Who built the school?"),
        worker="edith",
        stage="human_performance",
    )
    folder = release(collection, tmp_path / "out")
    rows = table(folder / votes_table.FILE)
    assert list(rows[0]) == list(votes_table.COLUMNS)
    assert len(rows) == 16
    assert {row["outcome"] for row in rows} == {"kept", "dropped"}
    assert [row["stage"] for row in rows].count("human_performance") == 1
    (bad,) = (row for row in rows if row["answer_type"] == "bad")
    assert (bad["answer_reason"], bad["split"], bad["chosen"]) == ("Nobody can know.", "", False)
    (dev,) = json.loads((folder / "dev.json").read_text())
    (asked,) = dev["questions"]
    given = [row for row in rows if row["question_id"] == asked["qid"]]
    assert [row["vote"] for row in given] == [0, 1, 2]
    assert [row["agrees"] for row in given] == [True, False, True]
    assert given[1]["answer_spans"] == [
        {"document": "Ida Brook", "start": 51, "end": 59, "text": "31 years"}
    ]
    assert given[0]["answer_context"][0]["document"] == "main"


def test_votes_are_written_in_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyarrow import parquet

    monkeypatch.setattr(votes_table, "ROWS_PER_GROUP", 4)
    assert votes_table.write_votes(tmp_path / "v.parquet", records(island())) == 15
    assert parquet.ParquetFile(tmp_path / "v.parquet").num_row_groups == 4
    assert votes_table.write_votes(tmp_path / "none.parquet", []) == 0
    assert table(tmp_path / "none.parquet") == []


def test_the_log_tells_who_took_which_unit_in_which_order(tmp_path: Path) -> None:
    folder = release(island(), tmp_path / "out")
    lines = [json.loads(line) for line in (folder / "assignments.jsonl").read_text().splitlines()]
    assert [line["assignment"] for line in lines] == list(range(1, 16))
    assert sorted(line[name] for line in lines for name in ("taken", "handed_in")) == list(
        range(1, 31)
    )
    assert [line["taken"] for line in lines] == sorted(line["taken"] for line in lines)
    assert all(line["taken"] < line["handed_in"] for line in lines)
    assert {line["end"] for line in lines} == {"submitted"}
    assert len({line["worker"] for line in lines}) == 3


def test_the_log_names_bundles_by_their_content_and_nobody() -> None:
    collection = island()
    question = Question.objects.get(text="Who built the school?")
    lease = Submission.objects.order_by("received_at").first().lease
    UnitItem.objects.create(unit=lease.unit, position=0, question=question)
    (line, *_) = map(json.loads, assignment_lines(collection))
    name = uuid5(NAMESPACE_URL, f"{lease.unit.stage.name}\n{question.key}").hex
    assert line["unit"] == name
    assert lease.worker_id not in line["worker"]
    assert line["work"] == sha256(b"{}").hexdigest()


def test_every_article_used_is_attributed(tmp_path: Path) -> None:
    folder = release(island(), tmp_path / "out")
    rows = list(csv.DictReader((folder / "ATTRIBUTION.csv").open(encoding="utf-8")))
    assert {row["title"]: row["used_as"] for row in rows} == {
        "Cape Tarn": "passage",
        "Harbours": "passage",
        "Hollin": "linked article",
        "Ida Brook": "linked article",
        "Port Ellan": "linked article",
        "School": "passage",
    }
    assert rows[2]["permalink"] == "https://hollin.example/w/index.php?oldid=1001"
    licence = (folder / "LICENSE").read_text()
    assert licence.count("https://creativecommons.org/licenses/by-sa/4.0/") == 2


def test_simulated_work_is_named_before_anything_else(tmp_path: Path) -> None:
    collection = island()
    Submission.objects.update(synthetic=True)
    Question.objects.update(synthetic=True)
    for answer in collection.stages.get(name="answer").answers.all():
        answer.synthetic = True
        answer.save()
    folder = release(collection, tmp_path / "out")
    lines = [line for line in (folder / "README.md").read_text().splitlines() if line]
    assert lines[0] == "# The pilot"
    assert lines[1].startswith("> **Simulated work.** 8 of 8 questions and 15 of 15 answers (100 %")
    assert all(row["synthetic"] for row in table(folder / votes_table.FILE))


def test_the_card_tells_files_counts_pay_and_licence(tmp_path: Path) -> None:
    folder = release(island(), tmp_path / "out")
    text = (folder / "README.md").read_text()
    assert "All questions and answers were written by people." in text
    for path in folder.iterdir():
        assert path.name == "README.md" or f"`{path.name}`" in text
    for piece in (
        "5 questions (2 train, 1 dev, 2 test)",
        "| answer | 15 | 0 | $3.00 | – | 10.00 | $18.00 |",
        "| dev | 3 | 2 | 50.0 % |",
        "* Questions still waiting for answers at this release: 1.",
        '"min_agreeing": 2',
        "## How to cite\n\nRita: The pilot.",
    ):
        assert piece in text


def test_a_corpus_of_several_files_is_named_on_one_line(tmp_path: Path) -> None:
    collection = island()
    collection.corpus.source = "ford.txt\nweir.txt"
    collection.corpus.save()
    card = (release(collection, tmp_path) / "README.md").read_text()
    assert "(ford.txt, weir.txt)" in card


def test_the_metadata_pass_the_reference_validator_and_read_the_votes(tmp_path: Path) -> None:
    import mlcroissant

    folder = release(island(), tmp_path / "out")
    described = json.loads((folder / "croissant.json").read_text())
    sums = dict(
        reversed(line.split("  ")) for line in (folder / "SHA256SUMS").read_text().splitlines()
    )
    for file in described["distribution"]:
        assert file["sha256"] == sums[file["name"]]
    dataset = mlcroissant.Dataset(jsonld=folder / "croissant.json")
    assert not dataset.metadata.ctx.issues.errors
    # Left out knowingly: a date would make two exports of the same rows differ.
    assert [issue for issue in dataset.metadata.ctx.issues.warnings if "datePub" not in issue] == []
    read = list(dataset.records("votes"))
    assert len(read) == 15
    assert read[0]["votes/answer_context"][1]["votes/answer_context/text"] == b"4,120 < 5,000"


def test_changes_of_parameters_are_in_the_manifest_and_on_the_card(tmp_path: Path) -> None:
    collection = island()
    before = release(collection, tmp_path / "before")
    assert json.loads((before / "manifest.json").read_text())["changes"] == []
    assert "Changed while it was collected" not in (before / "README.md").read_text()
    wanted = {"question.reward_cents": 500}
    revise(collection, wanted, why="It takes longer.", by="rita", now=NOW)
    collection.refresh_from_db()
    after = release(collection, tmp_path / "after")
    assert json.loads((after / "manifest.json").read_text())["changes"] == [
        {
            "key": "question.reward_cents",
            "old": 400,
            "new": 500,
            "on": f"{NOW:%Y-%m-%d}",
            "why": "It takes longer.",
        }
    ]
    card = (after / "README.md").read_text()
    assert "`question.reward_cents` from 400 to 500. It takes longer." in card
    assert "rita" not in card
