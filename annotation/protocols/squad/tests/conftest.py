"""What several tests start from: a collection about a small corpus, and what people make of it."""

from pathlib import Path
from typing import Any

import pytest

from collector.models import Collection
from collector.protocols.parameters import FOLDS
from tasks.crowd import marketplace
from tasks.tests.making import make_corpus, name_qualification, write_keys
from tests.page_workers import Person, look, run
from tests.test_fifth_protocol import new_hit

WRITER = "AADA"


SMALL = (
    "seeds.min_characters=40",
    "question.questions_per_item=2",
    "question.unanswerable_per_item=1",
    "answer.items_per_hit=2",
    "splits.train=1",
    "splits.dev=1",
    "splits.test=1",
)


@pytest.fixture
def collection(tmp_path: Path, settings: Any, monkeypatch: Any) -> Collection:
    """Return an open collection of six passages."""
    return publish_small(make_corpus().slug, 6, tmp_path, settings, monkeypatch)


def publish_small(
    corpus: str, count: int, folder: Path, settings: Any, monkeypatch: Any, *values: str
) -> Collection:
    """Return an open collection of so many passages; its marketplace takes whatever it is sent.

    values: "KEY=VALUE" of parameters.
    """
    write_keys(folder, settings)
    settings.SUBMIT_ORIGINS = ["http://127.0.0.1:8000"]
    monkeypatch.setattr("tasks.lifecycle.publication.call", lambda operation: {})
    monkeypatch.setattr(marketplace, "create_hit_type", lambda **values: f"T {values['title']}")
    monkeypatch.setattr(marketplace, "create_hit", new_hit)
    monkeypatch.setattr(marketplace, "create_qualification", name_qualification)
    options = {"protocol": "squad", "corpus": corpus, "budget": 90.0, "seed": 3}
    run("create_collection", "marked", **options, set=[*SMALL, *values])
    third = count // 3
    assert run("select_seeds", "marked", count=count) == dict.fromkeys(FOLDS, third)
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
