"""What several tests start from: two books, a collection about them, and its pairs."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotation.protocols.bookqa.tests.making import READERS, SUMMARY, WRITERS
from collector.ingest.books.tests.making import document, gutenberg, pair, story, table, write
from collector.models import Collection
from tasks.crowd import marketplace
from tasks.models import Question
from tasks.tests.making import name_qualification, write_keys
from tests.page_workers import Person, look, run
from tests.test_fifth_protocol import new_hit


@pytest.fixture
def books(tmp_path: Path) -> list[Path]:
    """Return two books with their tables, one of the published valid set and one of no set."""
    names = ("ford", "weir")
    texts = [
        write(tmp_path / f"{name}.txt", gutenberg(story(20), number, name.title()))
        for number, name in enumerate(names, start=1)
    ]
    rows = [
        document(
            name,
            story_url="",
            wiki_url=f"http://en.wikipedia.org/wiki/{name}",
            wiki_title=name.title(),
            set=part,
        )
        for name, part in zip(names, ("valid", "test"), strict=True)
    ]
    told = [
        {"document_id": name, "set": "valid", "summary": f"{SUMMARY} It is {name}."}
        for name in names
    ]
    return [
        *texts,
        table(tmp_path / "documents.csv", *rows),
        table(tmp_path / "summaries.csv", *told),
        table(tmp_path / "qaps.csv", pair("ford"), pair("weir", "When did she cross?")),
    ]


@pytest.fixture
def collection(books: list[Path], tmp_path: Path, settings: Any, monkeypatch: Any) -> Collection:
    """Return an open collection whose HITs go to a marketplace that accepts everything."""
    write_keys(tmp_path, settings)
    settings.SUBMIT_ORIGINS = ["http://127.0.0.1:8000"]
    monkeypatch.setattr("tasks.lifecycle.publication.call", lambda operation: {})
    monkeypatch.setattr(marketplace, "create_hit_type", lambda **values: f"T {values['title']}")
    monkeypatch.setattr(marketplace, "create_hit", new_hit)
    monkeypatch.setattr(marketplace, "create_qualification", name_qualification)
    call_command("ingest_books", *map(str, books), corpus="mill", processes=1, stdout=StringIO())
    few = [
        "question.redundancy={ train = 2, dev = 2, test = 2 }",
        "answer.items_per_hit=2",
    ]
    options = {"protocol": "bookqa", "corpus": "mill", "budget": 50.0, "seed": 3, "set": few}
    run("create_collection", "stories", **options)
    assert run("select_seeds", "stories", count=2) == {"dev": 1, "test": 1}
    run("publish", "stories")
    made = Collection.objects.get()
    look(made)
    return made


@pytest.fixture
def collected(collection: Collection) -> Collection:
    """Return it when two have asked and others have answered; one question is doubted."""
    for name in WRITERS:
        assert Person(name, collection).work("question") == 2
    look(collection)
    doubted = Question.objects.order_by("key")[0].text

    def doubt(state: dict[str, Any], data: dict[str, Any]) -> None:
        for item, entry in zip(state["items"], data["entries"], strict=True):
            if item["text"] == doubted:
                # That it cannot be answered counts by itself.
                entry["fields"] = {"answer": "", "doubt": "It does not say."}
            else:
                entry["fields"]["doubt"] = ""

    for name in READERS:
        Person(name, collection).work("answer", doubt)
    return collection
