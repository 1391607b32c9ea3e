"""Book QA runs from books to a release: people ask about summaries, others answer again."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Verdict
from annotation.protocols.bookqa.tests.making import SUMMARY, WRITERS, rows
from annotation.release.tests.reference_readers import read_release
from collector.ingest.books.tests.making import document, table
from collector.models import Book, Collection, Seed
from collector.protocols.creation import parameters_of
from tasks.models import Answer, Question
from tasks.tests.making import NOW
from tasks.work import units
from tests.page_workers import Person, look, run

pytestmark = pytest.mark.django_db


def test_it_runs_from_books_to_a_release(collected: Collection, tmp_path: Path) -> None:
    assert (Question.objects.count(), Answer.objects.count()) == (4, 4)
    run("validate_answers", "stories")
    run("make_splits", "stories")
    doubted = Verdict.objects.get(outcome="dropped")
    assert doubted.reason == "cannot_be_answered"
    counts = run("export_dataset", "stories", out=tmp_path / "out")["counts"]
    assert sum(counts["questions"].values()) == 3
    asked = rows(tmp_path / "out" / "qaps.csv")
    assert len(asked) == 3
    by_text = {row["question"]: row for row in asked}
    for question in Question.objects.exclude(pk=doubted.question_id):
        row = by_text[question.text]
        assert row["answer1"] == question.payload["fields"]["answer"]
        (other,) = question.answers.all()
        assert row["answer2"] == other.payload["fields"]["answer"]
        assert other.worker_id != question.worker_id
    read = read_release(tmp_path / "out", tmp_path / "cache")
    for row in (row for each in read.values() for row in each):
        official = by_text[row["question"]]
        for name in ("document_id", "answer1", "answer2"):
            assert row[name] == official[name]
        assert row["answer"] == row["answer1"]
        assert row["kind"] == "gutenberg"
    listed = rows(tmp_path / "out" / "documents.csv")
    assert {(row["document_id"], row["set"], row["wiki_title"]) for row in listed} == {
        ("ford", "valid", "Ford"),
        ("weir", "test", "Weir"),
    }
    told = rows(tmp_path / "out" / "summaries.csv")
    assert [row["summary"] for row in told] == [f"{SUMMARY} It is {n}." for n in ("ford", "weir")]
    # What its requester could still do is no part of what is published.
    card = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert "What became of the questions" in card
    assert "labelled" not in card


def test_rows_of_tables_that_books_came_with_stand_in_the_release_as_they_were(
    collected: Collection, books: list[Path], tmp_path: Path
) -> None:
    run("validate_answers", "stories")
    run("make_splits", "stories")
    run("export_dataset", "stories", out=tmp_path / "out")
    given = {path.name: rows(path) for path in books if path.suffix == ".csv"}
    released = rows(tmp_path / "out" / "documents.csv")
    assert released == given["documents.csv"]
    assert all(row["wiki_url"] and row["story_word_count"] for row in released)
    told = rows(tmp_path / "out" / "summaries.csv")
    assert [row["summary"] for row in told] == [row["summary"] for row in given["summaries.csv"]]


def test_a_book_of_no_table_is_counted_and_its_marks_find_it_again(
    books: list[Path], tmp_path: Path
) -> None:
    text, other = books[0], "again"
    call_command("ingest_books", str(text), corpus="own", processes=1, stdout=StringIO())
    own = Book.objects.get(corpus__slug="own")
    row = own.table_rows["documents.csv"]
    assert row["story_file_size"] == str(text.stat().st_size)
    assert row["story_word_count"] == str(len(own.text.split()))
    assert own.text.split()[:5] == row["story_start"].split()
    assert own.text.split()[-5:] == row["story_end"].split()
    listed = table(tmp_path / "documents.csv", document(text.stem, **{**row, "wiki_title": "It"}))
    call_command(
        "ingest_books", str(text), str(listed), corpus=other, processes=1, stdout=StringIO()
    )
    assert Book.objects.get(corpus__slug=other).text == own.text


def test_what_is_released_is_read_back_and_released_again(
    collected: Collection, tmp_path: Path
) -> None:
    run("validate_answers", "stories")
    run("make_splits", "stories")
    run("export_dataset", "stories", out=tmp_path / "out")
    names = ("documents.csv", "qaps.csv", "summaries.csv")
    given = [str(tmp_path / "out" / name) for name in names]
    assert sum(run("import_dataset", "old", *given, protocol="bookqa")["questions"].values()) == 3
    run("export_dataset", "old", out=tmp_path / "again")
    for name in names:
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "out" / name).read_bytes()


def test_nobody_reads_the_book_and_nobody_answers_their_own_question(
    collection: Collection,
) -> None:
    state, html = Person("AADA", collection).enter("question")
    assert SUMMARY in state["items"][0]["passage"]["text"]
    assert "crossed the ford" not in html
    for name in WRITERS:
        Person(name, collection).work("question")
    look(collection)
    own = set(Question.objects.filter(worker__identity__person="AADA").values_list("text"))
    state, html = Person("AADA", collection).enter("answer")
    assert not own & {(item["text"],) for item in state.get("items", [])}
    # What the writer answered never leaves the server.
    assert not any(
        question.payload["fields"]["answer"] in html.replace(SUMMARY, "")
        and question.payload["fields"]["answer"] not in SUMMARY
        for question in Question.objects.all()
    )


def test_a_copied_question_is_refused_and_nothing_is_lost(collection: Collection) -> None:
    ada = Person("AADA", collection)
    state, _ = ada.enter("question")
    copied = "Who hides the miller from the bailiff until the flood?"
    fields = {"question": copied, "answer": "Marta does."}
    refused = ada.post(state, "submit", {"data": {"entries": [{"item": "0", "fields": fields}]}})
    assert refused.status_code == 422
    assert "Say it in your own words" in refused.json()["problems"][0]["message"]


def test_a_book_stays_in_the_set_that_it_was_published_in(collection: Collection) -> None:
    folds = {seed.payload["document_id"]: seed.fold for seed in Seed.objects.all()}
    assert folds == {"ford": "dev", "weir": "test"}


def test_its_estimate_counts_every_writer_and_every_answer(collection: Collection) -> None:
    # Of the four pairs at most one HIT is labelled, and by two people if it is drawn.
    costs = {"question": 4 * 100, "answer": 2 * 150, "label": 2 * 100}
    assert run("estimate", "stories")["stages"] == costs


def test_rankers_are_compared_and_their_files_written(books: list[Path], tmp_path: Path) -> None:
    call_command("ingest_books", *map(str, books), corpus="mill", processes=1, stdout=StringIO())
    out = tmp_path / "ranking"
    found = run("rank_passages", "mill", protocol="bookqa", out=out)
    assert [row[0] for row in found["rankers"]["rows"]][-1] == "Upperbound"
    assert found["written"]["candidates.jsonl"] == 2
    mine = tmp_path / "mine.jsonl"
    mine.write_bytes((out / "candidates.jsonl").read_bytes())
    again = run("rank_passages", "mill", protocol="bookqa", ranking=[mine])
    cells = {(row[0], row[1]): row[2:4] for row in again["rankers"]["rows"]}
    assert cells["mine", 5] == cells["BM25", 5]
    printed = StringIO()
    call_command("rank_passages", "mill", protocol="bookqa", ranking=[mine], stdout=printed)
    assert "Table 2 of the paper" in printed.getvalue()
    key = json.loads(mine.read_text("utf-8").splitlines()[0])["id"]
    labels = tmp_path / "labels.csv"
    labels.write_text(f"id,question_type,answer_unit\n{key},causal,state\n")
    by_label = run("rank_passages", "mill", protocol="bookqa", labels=labels)["rankers_by_label"]
    assert [row[:3] for row in by_label["rows"] if row[0] == "question type: causal"] == [
        ["question type: causal", 1, 1.0]
    ]
    labels.write_text("id,question_type,answer_unit\nnone,causal,state\n")
    with pytest.raises(CommandError, match=r"labels\.csv: Row 1: no question has the id 'none'"):
        run("rank_passages", "mill", protocol="bookqa", labels=labels)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"corpus": "nowhere"}, "There is no corpus 'nowhere'"),
        ({"ranking": [Path("no.jsonl")]}, "no.jsonl: there is no such file"),
        ({"ranking": [Path("a/m.jsonl"), Path("b/m.jsonl")]}, "Two rankings are called alike"),
        ({"ranking": [Path("BM25.jsonl")]}, "name the file after its ranker, not BM25"),
        ({"protocol": "quac"}, "lacks .*rankers.py: write it"),
        ({"set": ["ranking.depth=0"]}, "ranking.depth"),
        ({"out": Path("/")}, "/ is there already: name a new folder"),
    ],
)
def test_what_cannot_be_ranked_is_one_line(
    books: list[Path], options: dict[str, Any], message: str
) -> None:
    call_command("ingest_books", *map(str, books), corpus="mill", processes=1, stdout=StringIO())
    given = {"corpus": "mill", "protocol": "bookqa", **options}
    with pytest.raises(CommandError, match=message):
        run("rank_passages", given.pop("corpus"), **given)


def test_a_corpus_without_questions_is_not_ranked(books: list[Path]) -> None:
    call_command("ingest_books", *map(str, books[:2]), corpus="mill", stdout=StringIO())
    with pytest.raises(CommandError, match="has no question about a book: read qaps"):
        run("rank_passages", "mill", protocol="bookqa")


def test_who_answers_reads_one_summary_for_several_questions(books: list[Path]) -> None:
    call_command("ingest_books", *map(str, books), corpus="mill", processes=1, stdout=StringIO())
    chosen = ["question.redundancy={ train = 3, dev = 3, test = 3 }", "answer.items_per_hit=2"]
    options = {"protocol": "bookqa", "corpus": "mill", "budget": 50.0, "seed": 3, "set": chosen}
    run("create_collection", "many", **options)
    run("select_seeds", "many", count=2)
    collection = Collection.objects.get()
    asking, answering = (collection.stages.get(name=name) for name in ("question", "answer"))
    seeds = list(collection.seeds.order_by("position"))
    # One about each in turn, as they come in.
    for number in range(6):
        seed = seeds[number % 2]
        key, text = f"q{number}", f"Who is the {number}th?"
        Question.objects.create(
            stage=asking, seed=seed, key=key, text=text, position=0, payload={}, created_at=NOW
        )
    parameters = parameters_of(collection)
    assert units.bundle(answering, parameters) == 2
    asking.state = "closed"
    asking.save()
    assert units.bundle(answering, parameters) == 1
    about = [
        {item.question.seed_id for item in unit.items.all()}
        for unit in answering.units.order_by("position")
    ]
    # The last one of each wait for the end, and then stand together.
    assert [len(each) for each in about] == [1, 1, 2]
