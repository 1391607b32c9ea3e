"""Documents of other scripts run through it to a release."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotation.protocols.rag.tests.conftest import WRITER, publish_small
from annotation.protocols.rag.tests.test_whole_way import FOLDS, evidence, place, read_all, text_at
from annotation.protocols.squad.tests.test_languages import TEXTS
from annotation.reports.collection import tables_of
from tests.page_workers import Person, look, run

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("language", TEXTS)
def test_it_runs_to_a_release_in_any_script(
    language: str, tmp_path: Path, settings: Any, monkeypatch: Any
) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    for number, text in enumerate(TEXTS[language]):
        (folder / f"{number}.md").write_text(f"# {text[:8].strip()}\n\n{text}\n", "utf-8")
    options = {"corpus": "own", "language": language, "processes": 1}
    call_command("ingest_documents", str(folder), **options, stdout=StringIO())
    collection = publish_small("own", 1, tmp_path, settings, monkeypatch)
    ada = Person(WRITER, collection)
    assert ada.work("natural")
    assert ada.work("question")
    look(collection)
    read_all(collection)
    run("make_splits", collection.slug)
    run("export_dataset", collection.slug, out=tmp_path / "out")
    files = [json.loads((tmp_path / "out" / f"{fold}.json").read_text()) for fold in FOLDS]
    released = [one for file in files for seed in file["data"] for one in seed["qas"]]
    assert any(not one["is_impossible"] for one in released)
    for piece in (piece for one in released for piece in evidence(one)):
        assert text_at(place(piece)) == piece["text"]
    [size] = [table for table in tables_of(collection) if table.name == "size"]
    assert size.rows
