"""The command stores documents whole, tells what changed, and names in one line what it leaves."""

import json
import zipfile
from io import StringIO
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from collector.ingest.documents import ingestion
from collector.ingest.documents.tests import making
from collector.ingest.documents.tests.making import ARABIC, GERMAN, archive, prose, write
from collector.models import Article, Collection, Corpus, Document, Paragraph, Section
from collector.protocols.creation import create_collection
from collector.protocols.loading import all_protocols
from collector.retrieval import passages
from collector.retrieval.passages import build_passages, search

pytestmark = pytest.mark.django_db


def run(*arguments: object) -> dict[str, Any]:
    out = StringIO()
    given = (*map(str, arguments), "--corpus", "quarn", "--processes", "1", "--json")
    call_command("ingest_documents", *given, stdout=out)
    return dict(orjson.loads(out.getvalue()))


def rows() -> tuple[int, ...]:
    models = (Corpus, Article, Document, Section, Paragraph)
    return tuple(model.objects.count() for model in models)


def row(**values: object) -> str:
    return json.dumps(values, ensure_ascii=False) + "\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of documents that lead to one another."""
    inside = tmp_path / "docs"
    write(inside / "tower.txt", f"The Tower\n\n{prose(6)}")
    write(inside / "parts/lamp.md", f"# The Lamp\n\n[Tower](../tower.txt#top), {prose(5, 'a ')}")
    write(inside / "parts/tide.html", f"<title>Tide</title><p>{prose(5, 'b ')}")
    write(inside / ".DS_Store", b"\x00")
    return inside


def test_a_folder_becomes_a_corpus_of_articles(folder: Path) -> None:
    done = run(folder)
    assert sorted(done["added"]) == ["parts/lamp.md", "parts/tide.html", "tower.txt"]
    assert (done["language"], done["state"], done["left_out"]) == ("en", "ready", [])
    article = Article.objects.get(document__external_id="parts/lamp.md")
    assert (article.title, article.document.format) == ("The Lamp", "md")
    (paragraph,) = article.paragraphs.all()
    assert paragraph.links == [[0, 5, "The Tower"]]
    assert (paragraph.n_links_in_corpus, paragraph.pages) == (1, None)


def test_what_is_left_out_of_documents_is_counted_by_rule_and_much_of_it_is_a_warning(
    tmp_path: Path,
) -> None:
    table = "year   keeper\n1871   Ada"
    much = write(tmp_path / "much.txt", f"{prose(2)}\n\n{table}\n\nTHE END\n\n- {prose(1)}")
    little = write(tmp_path / "little.html", f"<nav>Home</nav><p>{prose(20)}<h2>NOTES")
    done = run(much, little)
    found = {one.external_id: one for one in Document.objects.all()}
    kept = len((prose(2) + prose(1)).replace(" ", ""))
    assert found["much.txt"].n_characters == kept + len("THEEND")
    assert found["much.txt"].left_out == {"marks of items": 1, "tables": 17}
    assert found["little.html"].left_out == {"headings without text": 5, "parts of the site": 4}
    assert done["counts"]["left_out"] == {
        "headings without text": 5,
        "marks of items": 1,
        "parts of the site": 4,
        "tables": 17,
    }
    assert [note for note in done["notes"] if "of the text" in note] == [
        "much.txt loses 8 % of the text (characters: tables 17, marks of items 1)."
    ]


def test_of_many_documents_that_lose_much_those_that_lose_most_are_named(tmp_path: Path) -> None:
    for number in range(23):
        write(tmp_path / f"{number}.html", f"<nav>{'Home ' * (40 + number)}</nav><p>{prose(4)}")
    told = [note for note in run(tmp_path)["notes"] if "text" in note and "same" not in note]
    assert told[0].startswith("22.html loses 4")
    assert told[20:] == [
        "3 more documents lose over 5 % of their text: each one's page says how much of what."
    ]


def test_rows_keep_their_ids_addresses_and_licences(tmp_path: Path) -> None:
    linked = "About the lamp.\n\nThe tower is old."
    lines = row(id="q-1", title="Lamp", text=linked, links=[[10, 14, 7]], licence="CC BY 4.0")
    lines += row(id=7, text=prose(3), url="https://quarn.example/7", license="CC BY 4.0")
    done = run(write(tmp_path / "a.jsonl", lines))
    assert (done["added"], done["licence"]) == (["q-1", "7"], "CC BY 4.0")
    first = Document.objects.get(external_id="q-1").article
    assert [(one.text, one.links) for one in first.paragraphs.all()] == [
        ("About the lamp.", [[10, 14, "7"]]),
        ("The tower is old.", []),
    ]
    second = Article.objects.get(document__external_id="7")
    assert second.url() == second.revision_url() == "https://quarn.example/7"


def test_a_csv_is_read_like_rows(tmp_path: Path) -> None:
    table = f'id;title;text\n1;"The ""Lamp""";"{prose(2)}"\n2;Tower\n'
    done = run(write(tmp_path / "a.csv", table))
    assert done["added"] == ["1"]
    assert done["left_out"] == ["a.csv, line 3 has not as many cells as the first line."]
    assert Article.objects.get().title == 'The "Lamp"'


def test_run_again_it_adds_what_is_new_and_says_what_changed(folder: Path) -> None:
    run(folder)
    before = {one.external_id: one.article_id for one in Document.objects.all()}
    write(folder / "tower.txt", f"The Tower\n\n{prose(7)}")
    write(folder / "new.txt", prose(9, "c "))
    done = run(folder)
    assert (done["added"], done["changed"], done["unchanged"]) == (["new.txt"], ["tower.txt"], 2)
    after = {one.external_id: one.article_id for one in Document.objects.all()}
    assert {name for name, pk in before.items() if after[name] == pk} == {
        *("parts/lamp.md", "parts/tide.html")
    }
    assert Article.objects.get(pk=after["tower.txt"]).title == "The Tower"
    assert run(folder)["unchanged"] == 4


def test_a_corpus_that_is_collected_from_grows_and_what_it_has_stays(folder: Path) -> None:
    run(folder)
    create_collection(
        "pilot",
        all_protocols()[0],
        Corpus.objects.get(),
        overrides={},
        seed=1,
        now=timezone.now(),
        title="Pilot",
        requester_name="Rita",
        requester_contact="",
    )
    Collection.objects.update(state="paused")
    assert run(folder)["unchanged"] == 3
    write(folder / "new.txt", prose(9, "c "))
    write(folder / "tower.txt", f"The Tower\n\n{prose(7)}")
    done = run(folder)
    assert (done["added"], done["changed"]) == (["new.txt"], [])
    (why,) = done["left_out"]
    assert why.startswith("tower.txt has changed, but workers of “Pilot” can be shown it as it was")


def test_documents_of_the_same_text_or_nearly_the_same_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    text = prose(40)
    for name, words in {
        "a.txt": text,
        "b.txt": text,
        "later.txt": f"{text} It was painted once more.",
        "other.txt": prose(40, "other "),
    }.items():
        write(folder / name, words)
    alike = "are nearly the same: is one of them enough?"
    assert run(folder)["notes"] == [f"a.txt, b.txt and later.txt {alike}"]
    write(folder / "else.txt", "Nobody has written of this before, nor will anybody again.")
    assert run(folder)["notes"] == []
    write(folder / "again.txt", (folder / "else.txt").read_text())
    same = "have the same text: is one of them enough?"
    assert run(folder)["notes"] == [f"else.txt and again.txt {same}"]


def test_documents_of_one_title_are_told_apart(tmp_path: Path) -> None:
    for name in "ab":
        write(tmp_path / f"{name}.txt", f"The Tower\n\n{prose(4, name)}")
    run(tmp_path / "a.txt", tmp_path / "b.txt")
    assert set(Article.objects.values_list("title", flat=True)) == {
        *("The Tower", "The Tower (b.txt)")
    }


def test_a_document_in_another_language_is_left_out_and_named(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", prose(9))
    write(tmp_path / "b.txt", GERMAN)
    done = run(tmp_path)
    assert (done["added"], done["language"]) == (["a.txt"], "en")
    (why,) = done["left_out"]
    assert why.startswith("b.txt is in German, the corpus in English:")
    assert run(tmp_path, "--language", "en")["added"] == ["b.txt"]


def test_a_language_that_runs_to_the_left_is_recorded(tmp_path: Path) -> None:
    done = run(write(tmp_path / "a.txt", ARABIC * 2))
    assert (done["language"], done["direction"]) == ("ar", "rtl")


def test_pages_of_a_pdf_are_kept(tmp_path: Path) -> None:
    path = making.pdf(
        tmp_path / "a.pdf", [("BodyText", prose(3)), ("page", ""), ("BodyText", prose(4, "d "))]
    )
    run(path)
    assert [one.pages for one in Paragraph.objects.order_by("position")] == [[[0, 1]], [[0, 2]]]
    assert Document.objects.get().n_pages == 2


def climbing() -> dict[str, str]:
    return {"good.txt": prose(3, "e "), "../../evil.txt": prose(3)}


def bomb(path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        with file.open("big.txt", "w") as member:
            for _ in range(64):
                member.write(b"0" * (1 << 20))
        file.writestr("good.txt", prose(3))
    return path


def lying(path: Path) -> Path:
    """Write an archive whose file is damaged inside."""
    archive(path, {"a.txt": prose(4)})
    content = bytearray(path.read_bytes())
    content[60:70] = b"\xff" * 10
    return write(path, bytes(content))


def without_a_size(path: Path) -> Path:
    """Write a PDF whose page has a name beside its size."""
    content = making.pdf(path, [("BodyText", prose(4))], packed=False).read_bytes()
    return write(path, content.replace(b"[ 0 0 595 842 ]", b"[ 0 0 595 842 /a ]"))


def cut_short(path: Path) -> Path:
    """Write an archive that was cut at its beginning: its file lies before that."""
    archive(path, {"a.txt": prose(4)})
    return write(path, path.read_bytes()[10:])


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda to: cut_short(to / "x.zip"), "a.txt is damaged inside x.zip."),
        (lambda to: cut_short(to / "x.docx"), "x.docx is damaged, or no docx."),
        (lambda to: bomb(to / "x.zip"), "x.zip was not opened: unpacked it would be 64 MiB"),
        (lambda to: archive(to / "x.zip", climbing()), "'../../evil.txt' leads out of the archive"),
        (lambda to: write(to / "x.zip", "PK no"), "x.zip is no zip archive, or a damaged one."),
        (lambda to: lying(to / "x.zip"), "a.txt is damaged inside x.zip."),
        (lambda to: making.scanned_pdf(to / "x.pdf", 5000), "x.pdf has 5,000 pages, more than"),
        (lambda to: making.scanned_pdf(to / "x.pdf"), "x.pdf has no text layer: it is scanned."),
        (lambda to: write(to / "x.pdf", prose(3)), "x.pdf is no PDF by what it holds"),
        (lambda to: write(to / "x.pdf", b"%PDF-1.7 no"), "x.pdf is damaged, or no PDF."),
        (lambda to: without_a_size(to / "x.pdf"), "x.pdf is damaged: pdfminer cannot read it."),
        (lambda to: write(to / "x.txt", b"%PDF-1.7"), "x.txt is a PDF by what it holds: give"),
        (lambda to: write(to / "x.txt", b"PK\x03\x04"), "x.txt is a docx or zip by what it holds"),
        (lambda to: write(to / "x.txt", "<html><p>a"), "x.txt is a page in HTML by what it holds"),
        (lambda to: write(to / "x.docx", prose(3)), "x.docx is no docx by what it holds"),
        (lambda to: archive(to / "x.docx", {"a": "b"}), "x.docx is damaged, or no docx."),
        (lambda to: write(to / "x.html", "<p> <table><td>1"), "no text. 1 table is left out."),
        (
            lambda to: write(to / "x.txt", GERMAN.encode() + b"\xff"),
            "x.txt is UTF-8 but for one place at",
        ),
        (lambda to: write(to / "x.md", bytes(range(256)) * 9), "x.md is no text"),
        (
            lambda to: write(to / "x\udcff.txt", prose(3)),
            "'x\\udcff.txt' has a name that is no text",
        ),
        (lambda to: write(to / "x.xls", "1"), "x.xls is none of what can be read: txt, md"),
        (lambda to: write(to / "x.csv", "name,age\na,1\n"), "no column called text"),
        (lambda to: write(to / "x.csv", 'id,text\n1,"a'), "x.csv, line 1 is no CSV"),
        (lambda to: write(to / "x.jsonl", b'{"id":1,"text":"\xff"}'), "line 1 is no JSON in UTF-8"),
        (lambda to: write(to / "x.jsonl", "[1]"), "line 1 is no object with id, title and text"),
        (lambda to: write(to / "x.jsonl", row(text="A.")), "x.jsonl, line 1 has no id."),
        (lambda to: write(to / "x.jsonl", row(id=1, text=" ")), "x.jsonl, line 1 has no text."),
        (lambda to: write(to / "x.jsonl", row(id=1, text="A", links=[[0, 9, 1]])), "a link is"),
        (lambda to: write(to / "x.jsonl", row(id="a" * 256, text="A.")), "id is longer than 255"),
        (lambda to: write(to / "x.jsonl", row(id=1, text=["A"])), "line 1: text is no text."),
    ],
)
def test_what_cannot_be_read_is_one_line_and_nothing_of_it_is_imported(
    tmp_path: Path, make: Any, why: str
) -> None:
    path = make(tmp_path)
    with pytest.raises(CommandError) as refused:
        run(path)
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)
    assert rows() == (0,) * 5
    # Beside a good one, that alone is imported.
    done = run(path, write(tmp_path / "fine.txt", prose(3, "f ")))
    assert (done["added"], len(done["left_out"])) == (["fine.txt"], 1)
    assert Document.objects.get().external_id == "fine.txt"
    assert not (tmp_path.parent / "evil.txt").exists()


def test_lines_without_a_text_are_told_in_one_line(tmp_path: Path) -> None:
    lines = [row(id=1, body="A."), row(id="a", text=prose(2)), *(row(id=n, body="") for n in "bcd")]
    done = run(write(tmp_path / "x.jsonl", "".join([*lines, "[1]\n"])))
    assert done["added"] == ["a"]
    assert done["left_out"] == [
        "x.jsonl, line 1 has no text. 3 more lines are left out for it, the last of them line 5.",
        "x.jsonl, line 6 is no object with id, title and text.",
    ]
    told = run(write(tmp_path / "y.jsonl", "".join(lines[:3])))["left_out"]
    assert told == ["y.jsonl, line 1 has no text. Line 3 is left out for the same reason."]


def test_two_documents_of_one_id_are_both_left_out(tmp_path: Path) -> None:
    lines = "".join(row(id=name, text=prose(2, name)) for name in ("a", "b", "a"))
    done = run(
        write(tmp_path / "x.jsonl", lines), write(tmp_path / "y.jsonl", row(id="a", text="A"))
    )
    assert done["added"] == ["b"]
    assert done["left_out"] == [
        "3 documents have the id 'a' (x.jsonl and y.jsonl): give one of them."
    ]


def test_a_run_that_was_stopped_goes_on_after_the_last_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        write(tmp_path / f"{name}.txt", prose(4, name))
    store = ingestion._store

    def stop_at_the_second(*given: Any) -> list[Document]:
        if Document.objects.exists():
            raise KeyboardInterrupt
        return store(*given)

    with monkeypatch.context() as patch:
        patch.setattr(ingestion, "BATCH", 1)
        patch.setattr(ingestion, "_store", stop_at_the_second)
        with pytest.raises(CommandError, match="goes on after the last document"):
            run(tmp_path)
    assert (Document.objects.count(), Corpus.objects.get().state) == (1, "ingesting")
    done = run(tmp_path)
    assert (len(done["added"]), done["unchanged"], done["state"]) == (2, 1, "ready")


def test_what_a_run_that_died_has_stored_is_indexed_by_the_next(
    folder: Path, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(corpus: Corpus) -> None:
        raise KeyboardInterrupt

    settings.HOME = tmp_path
    run(folder)
    build_passages(Corpus.objects.get())
    write(folder / "new.txt", f"{prose(5, 'c ')} A zeppelin came.")
    with monkeypatch.context() as patch:
        patch.setattr(ingestion, "build_again", die)
        with pytest.raises(CommandError):
            run(folder)
    assert search(Corpus.objects.get(), "zeppelin", 5) == []
    assert run(folder)["unchanged"] == 4
    assert len(search(Corpus.objects.get(), "zeppelin", 5)) == 1


def test_an_index_that_is_exchanged_during_a_search_is_searched_as_it_is_then(
    folder: Path, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.HOME = tmp_path
    run(folder)
    build_passages(Corpus.objects.get())
    write(folder / "new.txt", f"{prose(5, 'c ')} A zeppelin came.")
    with monkeypatch.context() as patch:
        patch.setattr(ingestion, "build_again", lambda corpus: None)
        run(folder)
    corpus, opened = Corpus.objects.get(), passages._opened

    def build_first(path: Path) -> Any:
        monkeypatch.setattr(passages, "_opened", opened)
        build_passages(corpus)
        return opened(path)

    monkeypatch.setattr(passages, "_opened", build_first)
    assert len(search(corpus, "zeppelin", 5)) == 1


def test_several_processes_read_what_one_reads(folder: Path) -> None:
    one = run(folder)
    Corpus.objects.all().delete()
    out = StringIO()
    call_command(
        *("ingest_documents", str(folder), "--corpus=quarn", "--processes=2", "--json"), stdout=out
    )
    assert orjson.loads(out.getvalue()) == one


def test_other_corpora_hold_no_documents(tmp_path: Path) -> None:
    Corpus.objects.create(slug="quarn", name="Quarn", language="en")
    with pytest.raises(CommandError, match="holds no documents; give these one of their own"):
        run(write(tmp_path / "a.txt", prose(3)))


def test_people_read_what_was_done(folder: Path) -> None:
    out = StringIO()
    write(folder / "x.xyz", "?")
    call_command("ingest_documents", str(folder), "--corpus=quarn", "--processes=1", stdout=out)
    assert "Left out (1):\n  x.xyz is none of what can be read" in out.getvalue()
    assert (
        "3 new, 0 changed, 0 as before. What is left out is named above.\nquarn: 3 documents,"
        in out.getvalue()
    )
    assert "Name the licence of the documents" in out.getvalue()
