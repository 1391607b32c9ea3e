"""What several tests start from: a collection about a small corpus, and what people make of it."""

from pathlib import Path
from typing import Any

import pytest

from collector.models import Collection
from tasks.crowd import marketplace
from tasks.tests.making import make_corpus, name_qualification, write_keys
from tests.page_workers import Person, look, run
from tests.test_fifth_protocol import new_hit

WRITER = "AADA"


@pytest.fixture
def collection(tmp_path: Path, settings: Any, monkeypatch: Any) -> Collection:
    """Return an open collection of six passages, whose HITs go to a marketplace that takes all."""
    write_keys(tmp_path, settings)
    settings.SUBMIT_ORIGINS = ["http://127.0.0.1:8000"]
    monkeypatch.setattr("tasks.lifecycle.publication.call", lambda operation: {})
    monkeypatch.setattr(marketplace, "create_hit_type", lambda **values: f"T {values['title']}")
    monkeypatch.setattr(marketplace, "create_hit", new_hit)
    monkeypatch.setattr(marketplace, "create_qualification", name_qualification)
    make_corpus()
    small = [
        "seeds.min_characters=40",
        "question.questions_per_item=2",
        "question.unanswerable_per_item=1",
        "answer.items_per_hit=2",
        "splits.train=1",
        "splits.dev=1",
        "splits.test=1",
    ]
    options = {"protocol": "squad", "corpus": "hollin", "budget": 90.0, "seed": 3, "set": small}
    run("create_collection", "marked", **options)
    assert run("select_seeds", "marked", count=6) == {"train": 2, "dev": 2, "test": 2}
    run("publish", "marked")
    made = Collection.objects.get(slug="marked")
    look(made)
    return made


@pytest.fixture
def asked(collection: Collection) -> Collection:
    """Return it when Ada has asked about all its passages."""
    assert Person(WRITER, collection).work("question") == 6
    look(collection)
    return collection
