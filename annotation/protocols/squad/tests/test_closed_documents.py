"""Of closed documents a release tells ids, offsets and checksums, and no word."""

import hashlib
import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from pyarrow import parquet

from annotation.decisions.records import records
from annotation.protocols.iirc.tests.island import island
from annotation.protocols.rag.tests.records import QUAY, mark, question, seed, vote
from annotation.protocols.squad.tests.conftest import publish_small
from annotation.protocols.squad.tests.test_whole_way import run
from annotation.records.withholding import WithoutText, is_closed, text_digest
from collector.ingest.licences import CLOSED
from collector.models import Corpus, Document, Paragraph
from tests.page_workers import Person, look

pytestmark = pytest.mark.django_db
WORD = re.compile(r"zq\w+")


def nonsense(number: int) -> str:
    """Return a document whose every word begins with zq and is in no other one."""
    words = " ".join(f"zq{number}x{at}" for at in range(60))
    return f"# zqtitle{number}\n\n## zqhead{number}\n\n{words}.\n"


def content_of(path: Path) -> str:
    """Return what a file of a release holds, as text."""
    if path.suffix == ".parquet":
        return json.dumps(parquet.read_table(path).to_pylist())
    return path.read_text("utf-8")


def test_no_word_of_them_is_released_and_every_mark_is_found_again(
    tmp_path: Path, settings: Any, monkeypatch: Any
) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    for number in range(4):
        (folder / f"doc-{number}.md").write_text(nonsense(number), "utf-8")
    options = {"corpus": "own", "language": "en", "licence": CLOSED, "processes": 1}
    call_command("ingest_documents", str(folder), **options, stdout=StringIO())
    collection = publish_small("own", 3, tmp_path, settings, monkeypatch)
    assert Person("AADA", collection).work("question") == 3
    look(collection)
    for name in ("AEDITH", "AIDA"):
        assert Person(name, collection).work("answer") == 2
    out = tmp_path / "out"
    run("validate_answers", collection.slug)
    run("make_splits", collection.slug)
    run("export_dataset", collection.slug, out=out)
    assert not list(out.glob("*-v2.0.json"))
    rows = [
        row
        for path in sorted(out.glob("questions-*.parquet"))
        for row in parquet.read_table(path).to_pylist()
    ]
    asked = set(WORD.findall(" ".join(row["question"] for row in rows)))
    votes = parquet.read_table(out / "votes.parquet").to_pylist()
    asked |= set(WORD.findall(" ".join(row["question"] for row in votes)))
    for path in sorted(path for path in out.rglob("*") if path.is_file()):
        assert set(WORD.findall(content_of(path))) <= asked, path.name
    texts = {
        hashlib.sha256(text.encode()).hexdigest(): text
        for text in Paragraph.objects.values_list("text", flat=True)
    }
    assert len(rows) > 3
    for row in rows:
        (passage,) = row["passages"]
        text = texts[passage["sha256"]]
        assert passage["n_characters"] == len(text)
        assert passage["document"] == "doc-" + re.findall(r"zq(\d)x", text)[0] + ".md"
        for span in row["answer_spans"]:
            marked = text[span["start"] : span["end"]]
            assert WORD.fullmatch(marked.split()[0])
            assert not marked.startswith(" ")
    assert "no word of them is in this folder" in (out / "README.md").read_text()
    # Who may read the documents scores by the official files, which stay in private.
    private = out.with_name("out-private")
    assert "zq" in (private / "train-v2.0.json").read_text()
    assert private.stat().st_mode & 0o077 == 0


def test_titles_of_documents_are_told_by_ids_or_digests() -> None:
    collection = island()
    (record,) = [one for one in records(collection) if one["fold"] == "train"]
    record["passages"][0] |= {"title": "Port Ellan", "document": "doc-0"}
    (told,) = WithoutText([record])
    asked, other = told["questions"][0], told["questions"][1]
    island_digest = text_digest("The island")
    assert asked["payload"]["links"] == [island_digest]
    marks = asked["votes"][0]["payload"]["context"]
    assert [(mark["document"], mark["text"]) for mark in marks] == [
        ("main", ""),
        (island_digest, ""),
    ]
    assert other["payload"]["links"] == ["doc-0"]
    assert other["votes"][0]["payload"]["context"][0]["document"] == "doc-0"
    # The corpus knows more of them than the seed shows.
    (told,) = WithoutText([record], {"The island": "doc-9"})
    asked = told["questions"][0]
    assert asked["payload"]["links"] == ["doc-9"]
    assert [mark["document"] for mark in asked["votes"][0]["payload"]["context"]][1] == "doc-9"


def test_evidence_by_passages_names_documents_by_ids_or_digests_too() -> None:
    ours = {**QUAY, "title": "Staithby"}
    del ours["document"]
    proof = {**mark(QUAY, "1911"), "document": "Staithby"}, mark(QUAY, "1911")
    opened = {"opened": [{"document": "Staithby", "paragraph": 4}]}
    asked = question("When?", vote("answer", "1911", *proof, payload=opened))
    (told,) = WithoutText([seed(asked, passages=[ours])], {"Harbours": "harbour.pdf"})
    given = told["questions"][0]["votes"][0]["payload"]
    digest = text_digest("Staithby")
    assert [one["document"] for one in given["evidence"]] == [digest, "harbour.pdf"]
    assert given["opened"] == [{"document": digest, "paragraph": 4}]
    assert told["passages"][0]["title"] == digest


@pytest.mark.parametrize("written", ["closed", "Closed", " CLOSED "])
def test_one_closed_document_closes_the_corpus(tmp_path: Path, written: str) -> None:
    lines = [
        {"id": "a", "title": "A", "text": "An open text.", "licence": "CC0 1.0"},
        {"id": "b", "title": "B", "text": "A closed text.", "licence": written},
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    call_command("ingest_documents", str(path), corpus="own", processes=1, stdout=StringIO())
    assert is_closed(Corpus.objects.get())
    closed = Document.objects.filter(external_id="b")
    assert closed.get().licence == CLOSED
    closed.update(licence="Closed")
    assert is_closed(Corpus.objects.get())
    closed.update(licence="")
    assert not is_closed(Corpus.objects.get())
