"""What several tests start from: own documents, and a collection of questions over them."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from collector.models import Collection
from collector.protocols.parameters import FOLDS
from tasks.crowd import marketplace
from tasks.tests.making import name_qualification, write_keys
from tests.page_workers import Person, look, run
from tests.test_fifth_protocol import new_hit

WRITER = "AADA"
PLACES = ("Carrow", "Selby", "Orrin", "Tarn", "Wexcombe", "Hollin", "Marden", "Ister", "Penryn")
# Every passage has words of its own, and names of other documents: something to find, and to share.
TOLD = (
    "The harbour of {place} was dug by hand in {year} and could hold {n} herring boats. "
    "Its master, {first} of {other}, kept a ledger of every wreck of the coast.",
    "A lighthouse stands north of {place}; its lamp, number {n}, was built in {other} by the "
    "brothers {first} and wound up every {n} hours until {year}, when a keeper fell asleep.",
)
FIRSTS = ("Ladd", "Corran", "Ness", "Quill", "Abery", "Thorne", "Vane", "Ruddock", "Ember")


def write_documents(folder: Path, number: int = 9) -> Path:
    """Return a folder with so many documents, each of a heading and two passages."""
    folder.mkdir()
    for at, place in enumerate(PLACES[:number]):
        values = {
            "place": place,
            "other": PLACES[(at + 1) % len(PLACES)],
            "first": FIRSTS[at],
            "year": 1801 + 7 * at,
            "n": 11 + at,
        }
        harbour, light = (one.format(**values) for one in TOLD)
        (folder / f"{place.lower()}.md").write_text(
            f"# {place}\n\n## The harbour\n\n{harbour}\n\n## The lighthouse\n\n{light}\n", "utf-8"
        )
    return folder


@pytest.fixture
def collection(tmp_path: Path, settings: Any, monkeypatch: Any) -> Collection:
    """Return an open collection of three natural questions and three sets of passages."""
    options = {"corpus": "coast", "language": "en", "processes": 1}
    call_command(
        "ingest_documents", str(write_documents(tmp_path / "own")), **options, stdout=StringIO()
    )
    return publish_small("coast", 3, tmp_path, settings, monkeypatch)


def publish_small(
    corpus: str, count: int, folder: Path, settings: Any, monkeypatch: Any
) -> Collection:
    """Return an open collection of so many seeds a stage; its marketplace takes what it is sent."""
    write_keys(folder, settings)
    settings.HOME = folder
    settings.SUBMIT_ORIGINS = ["http://127.0.0.1:8000"]
    monkeypatch.setattr("tasks.lifecycle.publication.call", lambda operation: {})
    monkeypatch.setattr(marketplace, "create_hit_type", lambda **values: f"T {values['title']}")
    monkeypatch.setattr(marketplace, "create_hit", new_hit)
    monkeypatch.setattr(marketplace, "create_qualification", name_qualification)
    small = ["seeds.min_characters=40", *(f"splits.{fold}=1" for fold in FOLDS)]
    options = {"protocol": "rag", "corpus": corpus, "budget": 90.0, "seed": 3}
    run("create_collection", "sought", **options, set=small)
    run("select_seeds", "sought", count=count)
    run("publish", "sought")
    made = Collection.objects.get(slug="sought")
    look(made)
    return made


@pytest.fixture
def asked(collection: Collection) -> Collection:
    """Return it when Ada has asked all that there is to ask."""
    ada = Person(WRITER, collection)
    assert ada.work("natural") > 0
    assert ada.work("question") > 0
    look(collection)
    return collection
