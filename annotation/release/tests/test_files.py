"""Votes, assignment log, attribution, card and metadata, as their readers find them."""

import csv
import json
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import pytest
from django.test import Client

from annotation.decisions.records import records
from annotation.protocols.iirc.tests.island import island
from annotation.release import croissant, row_tables
from annotation.release.dataset_card import MANIFEST, without_header
from annotation.release.publish_release import publish_release
from annotation.release.tests.reference_readers import read_release
from annotation.release.write_log import assignment_lines
from annotation.splits.assignment import make_splits
from annotation.tests.making import NOW, make_answer
from collector.ingest.licences import SEVERAL, UNKNOWN, licence_cautions
from collector.models import Collection, CollectionText, Document
from collector.models.corpus import CorpusKind
from collector.protocols.creation import revise
from collector.seeds.selection import cautions_of
from tasks.models import Lease, Question, Submission, UnitItem

pytestmark = pytest.mark.django_db


def release(collection: Collection, folder: Path) -> Path:
    """Return the folder of a release of the collection."""
    make_splits(collection, NOW)
    return publish_release(collection, folder, NOW).folder


def table(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a Parquet file."""
    from pyarrow import parquet

    return parquet.read_table(path).to_pylist()


def sums_of(folder: Path) -> str:
    """Return the checksums of all files of a release."""
    return (folder / "SHA256SUMS").read_text()


def test_every_vote_is_there_dropped_questions_and_second_readings_too(tmp_path: Path) -> None:
    collection = island()
    make_answer(
        Question.objects.get(text="Who built the school?"),
        worker="edith",
        stage="human_performance",
    )
    folder = release(collection, tmp_path / "out")
    rows = table(folder / row_tables.VOTES_FILE)
    assert list(rows[0]) == list(row_tables.VOTE_COLUMNS)
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

    monkeypatch.setattr(row_tables, "VOTES_PER_GROUP", 4)
    assert row_tables.write_votes(tmp_path / "v.parquet", records(island())) == 15
    assert parquet.ParquetFile(tmp_path / "v.parquet").num_row_groups == 4
    assert row_tables.write_votes(tmp_path / "none.parquet", []) == 0
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
    card = (folder / "README.md").read_text()
    assert "tags:\n- croissant\n- simulated\n" in card
    assert "annotations_creators:\n- machine-generated\n" in card
    lines = [line for line in without_header(card).splitlines() if line]
    assert lines[0] == "# The pilot"
    assert lines[1].startswith("> **Simulated work.** 8 of 8 questions and 15 of 15 answers (100 %")
    assert all(row["synthetic"] for row in table(folder / row_tables.VOTES_FILE))
    described = json.loads((folder / "croissant.json").read_text())
    for told in (described["description"], described["rai:dataCollection"]):
        assert told.startswith("8 of 8 questions and 15 of 15 answers (100 % of both) were made by")
    assert described["rai:dataCollectionType"] == ["Software Collection"]
    assert "rai:dataCollectionTimeframe" not in described


def test_the_card_tells_files_counts_pay_and_licence(tmp_path: Path) -> None:
    folder = release(island(), tmp_path / "out")
    text = (folder / "README.md").read_text()
    assert "All questions and answers were written by people." in text
    for path in folder.iterdir():
        name = f"{path.name}/" if path.is_dir() else path.name
        assert name == "README.md" or f"`{name}`" in text
    for piece in (
        "5 questions (2 train, 1 dev, 2 test)",
        "| answer | 15 | 0 | $3.00 | – | 10.00 | $18.00 |",
        "| dev | 3 | 2 | 50.0 % |",
        "* Questions still waiting for answers at this release: 1.",
        '"min_agreeing": 2',
        "## How to cite\n\n```bibtex\n@misc{pilot,\n  title = {{The pilot}},\n",
        "| `answer_spans.start` | integer | offset of its first character in that text |",
        '### dev\n\n```json\n{\n  "id": "q_a367d9b481e156e2aee045c23120a28e",',
        "* Of 15 assignments handed in 0 were rejected and not paid.",
    ):
        assert piece in text


def test_the_words_that_workers_read_are_in_the_release(tmp_path: Path) -> None:
    collection = island()
    text = CollectionText.objects.create(
        collection=collection,
        name="answer",
        version=2,
        markdown="<!-- for its writer -->\n# Answer\n\nRead {questions}; {pay}.",
        created_at=NOW,
    )
    assert not (release(collection, tmp_path / "before") / "instructions.md").exists()
    Lease.objects.filter(unit__stage__name="answer").update(instructions=text)
    folder = release(collection, tmp_path / "out")
    told = (folder / "instructions.md").read_text()
    assert "## answer, version 2\n\n> # Answer\n>\n> Read 10; " in told
    assert "for its writer" not in told
    card = (folder / "README.md").read_text()
    assert "* `instructions.md`: the instructions of each stage" in card
    assert "Versions of the instructions that workers read: answer 2." in card


def test_the_card_says_what_was_asked_and_how_questions_were_placed(tmp_path: Path) -> None:
    collection = island()
    collection.corpus.counts = {"articles": 6}
    collection.corpus.save()
    folder = release(collection, tmp_path)
    card = (folder / "README.md").read_text()
    rule = (
        "The split of a passage was fixed when it was chosen: no text is in two, and none nearly "
        "the same as it. What proves an answer is in linked articles, which passages of several "
        "splits may link to."
    )
    n_seeds = collection.seeds.count()
    assert f"It has 6 articles; {n_seeds} seeds to begin with were chosen by the rules" in card
    assert rule in card
    described = json.loads((folder / "croissant.json").read_text())
    assert rule in described["rai:dataPreprocessingProtocol"]
    assert "| answer | Read a paragraph" in card
    assert "| 10 | train 1, dev 3, test 3 |" in card
    # What nobody has done yet has no table, and its requester's next step is nobody else's.
    assert "Human performance" not in card
    assert "Not collected yet" not in card


def documents_under(licence_name: str, *licences: str) -> Collection:
    """Return a collection over documents that name these licences, under one of the corpus."""
    collection = island()
    corpus = collection.corpus
    for number, article in enumerate(corpus.articles.all()):
        licence = licences[number % len(licences)]
        Document.objects.create(
            corpus=corpus, article=article, external_id=article.title, format="md", licence=licence
        )
    corpus.kind, corpus.licence_name, corpus.licence_url = CorpusKind.DOCUMENTS, licence_name, ""
    corpus.save()
    return collection


def test_a_licence_of_the_corpus_is_none_of_documents_that_name_another(
    tmp_path: Path, admin_client: Client
) -> None:
    collection = documents_under("CC BY 4.0", "CC0 1.0", "cc by 4.0", "", "Ours")
    sentence = "The licence of the corpus is CC BY 4.0, but documents in it name CC0 1.0, Ours."
    assert any(sentence in told for told in cautions_of(collection))
    corpus = collection.corpus
    corpus.documents.filter(licence="").update(licence="closed")
    assert "CC0 1.0, Ours, closed. A release will hold no word" in licence_cautions(corpus)[0]
    corpus.documents.filter(licence="closed").update(licence="")
    corpus.licence_name = "Closed"
    assert "CC0 1.0, Ours, cc by 4.0. A release will hold no word" in licence_cautions(corpus)[0]
    corpus.licence_name = "CC BY 4.0"
    Collection.objects.update(state="draft")
    page = admin_client.get("/collections/pilot/publish/", HTTP_HOST="localhost")
    assert sentence in page.content.decode()
    folder = release(collection, tmp_path)
    zero = "https://creativecommons.org/publicdomain/zero/1.0/"
    described = json.loads((folder / "croissant.json").read_text())
    assert described["license"] == ["CC BY 4.0", zero, "Ours"]
    assert "some documents under CC0 1.0, Ours" in described["rai:dataCollectionRawData"]
    told = "names another licence: CC0 1.0, Ours."
    for name in ("LICENSE", "README.md"):
        assert told in (folder / name).read_text(), name
    assert "\nlicense: other\nlicense_name: CC BY 4.0, CC0 1.0, Ours\n" in (
        (folder / "README.md").read_text()
    )
    assert json.loads((folder / MANIFEST).read_text())["corpus"]["other_licences"] == [
        "CC0 1.0",
        "Ours",
    ]


def test_each_document_may_have_a_licence_of_its_own(tmp_path: Path) -> None:
    collection = documents_under(SEVERAL, "CC0 1.0", "Ours", "")
    folder = release(collection, tmp_path)
    licence = (folder / "LICENSE").read_text()
    assert "Each is under the licence that ATTRIBUTION.csv names beside it" in licence
    assert "have no licence of their\nown: ask Rita." in licence
    described = json.loads((folder / "croissant.json").read_text())
    zero = "https://creativecommons.org/publicdomain/zero/1.0/"
    assert described["license"] == [zero, "Ours", "unknown"]
    assert "each document under its own licence" in described["rai:dataCollectionRawData"]
    assert (
        "`ATTRIBUTION.csv`: every document used, with its id" in (folder / "README.md").read_text()
    )


def test_an_unknown_licence_is_called_none(tmp_path: Path) -> None:
    collection = island()
    collection.corpus.licence_name, collection.corpus.licence_url = UNKNOWN, ""
    collection.corpus.save()
    folder = release(collection, tmp_path)
    card = (folder / "README.md").read_text()
    assert "\nlicense: unknown\n" in card
    assert "The corpus names no licence: ask its owner before you pass this on." in card
    for name in ("README.md", "LICENSE", "croissant.json"):
        assert "under unknown" not in (folder / name).read_text(), name
        assert "licence: unknown" not in (folder / name).read_text(), name
    assert "under a licence that the corpus does not name" in (folder / "LICENSE").read_text()


def test_a_corpus_of_several_files_is_named_on_one_line(tmp_path: Path) -> None:
    collection = island()
    collection.corpus.source = "ford.txt\nweir.txt"
    collection.corpus.save()
    card = (release(collection, tmp_path) / "README.md").read_text()
    assert "(ford.txt, weir.txt)" in card


def test_others_read_every_split_and_every_vote(tmp_path: Path) -> None:
    import mlcroissant

    folder = release(island(), tmp_path / "out")
    read = read_release(folder, tmp_path / "cache")
    assert {split: len(rows) for split, rows in read.items()} == {"train": 2, "dev": 1, "test": 2}
    (dev,) = read["dev"]
    assert dev == table(folder / "questions-dev.parquet")[0]
    assert (dev["answer"], dev["answer_type"], dev["synthetic"]) == ("1850", "span", False)
    (span,) = dev["answer_spans"]
    (official,) = json.loads((folder / "dev.json").read_text())[0]["questions"]
    assert (dev["id"], dev["question"]) == (official["qid"], official["question"])
    assert span["text"] == official["answer"]["answer_spans"][0]["text"]
    assert [(each["text"], each["chosen"], each["agrees"]) for each in dev["answers"]] == [
        ("1850", True, True),
        ("1850", False, True),
    ]
    assert [link["target"] for link in dev["links"]] == ["Ida Brook", "Port Ellan"]
    described = json.loads((folder / "croissant.json").read_text())
    sums = dict(
        reversed(line.split("  ")) for line in (folder / "SHA256SUMS").read_text().splitlines()
    )
    told = {file["name"]: file["sha256"] for file in described["distribution"]}
    # These two are written after it.
    sums = {name: sum for name, sum in sums.items() if name not in (croissant.FILE, MANIFEST)}
    assert told == sums
    votes = list(mlcroissant.Dataset(jsonld=folder / "croissant.json").records("votes"))
    assert len(votes) == 15
    assert votes[0]["votes/answer_context"][1]["votes/answer_context/text"] == b"4,120 < 5,000"


def test_the_metadata_tell_what_the_run_knows_and_nothing_else(tmp_path: Path) -> None:
    import mlcroissant

    collection = island()
    folder = release(collection, tmp_path / "out")
    described = json.loads((folder / "croissant.json").read_text())
    assert described["datePublished"] == f"{NOW:%Y-%m-%d}"
    assert described["citeAs"].startswith(
        "@misc{pilot,\n  title = {{The pilot}},\n  author = {{Rita}}"
    )
    known = {name for name in described if name.startswith("rai:")}
    assert "rai:dataUseCases" not in known
    assert described["rai:annotatorDemographics"] == ["Work was handed in by 3 people."]
    assert described["rai:dataCollectionTimeframe"] == [f"{NOW:%Y-%m-%d}"] * 2
    for words in (
        "written by people",
        "$3.00 for an assignment, $18.00 an hour",
        "0 were rejected",
    ):
        assert words in described["rai:dataCollection"]
    assert "Krippendorff's alpha 1.00" in described["rai:dataAnnotationAnalysis"][0]
    metadata = mlcroissant.Dataset(jsonld=folder / "croissant.json").metadata
    assert metadata.data_collection == described["rai:dataCollection"]
    assert metadata.annotations_per_item.startswith("question_qualification: 20;")


def test_equal_rows_make_equal_files_on_another_day(tmp_path: Path) -> None:
    collection = island()
    first = release(collection, tmp_path / "first")
    again = publish_release(collection, tmp_path / "again", NOW + timedelta(days=400))
    assert not again.is_new
    assert sums_of(first) == sums_of(again.folder)


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
