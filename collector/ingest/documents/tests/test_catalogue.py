"""The catalogue of formats: a file put into the folder is all that a new one needs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from collector.ingest.documents import formats as folder
from collector.ingest.documents.catalogue import described, format_of, formats, label_of, listed
from collector.ingest.documents.files import find_files
from collector.ingest.documents.reading import FoundDocument, read_file

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture
def _with_stories(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    here = str(Path(__file__).with_name("more_formats"))
    monkeypatch.setattr(folder, "__path__", [*folder.__path__, here])
    formats.cache_clear()
    yield
    formats.cache_clear()


@pytest.mark.usefixtures("_with_stories")
def test_a_format_is_one_file_that_the_folder_finds(tmp_path: Path) -> None:
    path = tmp_path / "fox.STORY"
    path.write_text("The fox\nIt came at night.\nIt left at dawn.\n")
    (file,), left_out = find_files([path])
    assert left_out == []
    (found,) = read_file((file, path, ""))
    assert isinstance(found, FoundDocument)
    assert (found.title, found.format) == ("The fox", "story")
    assert [block.text for block in found.text.blocks] == ["It came at night.", "It left at dawn."]
    assert label_of("story") == "Stories"
    assert listed() == "txt, md, html, pdf, docx, jsonl, csv, story, or a zip of these"
    assert described().endswith("JSON Lines, CSV, Stories")


def test_a_document_keeps_the_name_of_a_format_that_is_gone() -> None:
    assert format_of("fox.story") is None
    assert label_of("story") == "story"


def test_names_and_endings_are_each_of_one_format() -> None:
    endings = [ending for each in formats().values() for ending in each.extensions]
    assert len(endings) == len({*endings})
    assert all(name == each.name and len(name) <= 10 for name, each in formats().items())


def test_the_manual_lists_the_formats() -> None:
    manual = (ROOT / "docs/requester.md").read_text("utf-8")
    assert f"# {', '.join(formats())}; folders and zips" in manual
