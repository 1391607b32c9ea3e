"""The command tells what it read, and one line when it cannot."""

from io import StringIO
from pathlib import Path

import orjson
import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError

from collector.ingest import ingestion
from collector.ingest.tests.dumps import dump, write
from collector.language_names import language_argument
from collector.models import Article, Corpus

pytestmark = pytest.mark.django_db

PAGES = {"Orla": "Deep in [[Varn]].", "Varn": "A valley."}


def run(*arguments: object) -> str:
    out = StringIO()
    call_command("ingest_dump", *map(str, arguments), stdout=out)
    return out.getvalue()


def test_it_prints_what_was_read(tmp_path: Path) -> None:
    path = write(tmp_path / "d.xml.bz2", dump(PAGES))
    line = run(path, "--corpus", "orla", "--name", "Lakes", "--processes", "1")
    assert line.startswith("orla: 2 articles, 0 redirects, 2 paragraphs, 1 links; 0 pages skipped")
    assert Corpus.objects.get().name == "Lakes"


def test_it_says_how_many_formulas_are_left_out(tmp_path: Path) -> None:
    pages = {"Orla": "Deep by <math>x^2</math>.", "Varn": "As <math>y</math> wide, <ce>H2O</ce>."}
    path = write(tmp_path / "d.xml", dump(pages))
    told = "3 formulas and measures are left out: they cannot be written."
    assert told in run(path, "--corpus", "orla", "--processes", "1")
    assert Corpus.objects.get().counts["formulas_left_out"] == 3


def test_json_is_one_object_with_the_counts_of_each_file(tmp_path: Path) -> None:
    path = write(tmp_path / "d.xml", dump(PAGES, lang="ar"))
    found = orjson.loads(run(path, "--corpus", "orla", "--json", "--licence", "CC0 1.0"))
    assert (found["state"], found["direction"], found["licence"]) == ("ready", "rtl", "CC0 1.0")
    assert found["files"]["d.xml"]["articles"] == 2


def test_a_language_the_dump_names_wrongly_can_be_mended(tmp_path: Path) -> None:
    path = write(tmp_path / "d.xml", dump(PAGES))
    assert "; Hindi, licence" in run(path, "--corpus", "hindi", "--language", "hi")


def test_a_language_that_is_none_and_a_book_that_is_not_there_are_told_in_a_sentence(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "d.xml", dump(PAGES))
    with pytest.raises(CommandError, match="'klingon' is no code of a language, such as en"):
        run(path, "--corpus", "orla", "--language", "klingon")
    for code in ("simple", "HI", "map-bms", "pt-br"):
        assert language_argument(code) == code.lower()
    with pytest.raises(CommandError, match=r"nowhere\.txt: it cannot be read or written \(No such"):
        call_command("ingest_books", str(tmp_path / "nowhere.txt"), "--corpus", "orla")
    assert not Corpus.objects.exists()


def test_a_wrong_file_is_one_line_and_stores_nothing(tmp_path: Path) -> None:
    good = write(tmp_path / "good.xml", dump(PAGES))
    bad = write(tmp_path / "bad.xml", "<html>")
    with pytest.raises(CommandError, match=r"bad\.xml is not a MediaWiki XML export"):
        run(good, bad, "--corpus", "orla")
    assert not Corpus.objects.exists()


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ({"lang": "de"}, "is in German, the corpus orla in English; give it a corpus of its own"),
        (
            {"lang": "en", "host": "wiki.example"},
            "comes from wiki.example, the corpus orla from en",
        ),
    ],
)
def test_a_file_of_another_wiki_is_refused(
    names: dict[str, str], sentence: str, tmp_path: Path
) -> None:
    run(write(tmp_path / "d.xml", dump(PAGES)), "--corpus", "orla", "--processes", "1")
    other = dump(PAGES, lang=names["lang"])
    other = other.replace("en.wikipedia.org", names.get("host", "en.wikipedia.org"))
    with pytest.raises(CommandError, match=sentence):
        run(write(tmp_path / "other.xml", other), "--corpus", "orla")


def test_pressing_ctrl_c_leaves_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ingestion, "store_records", stopped)
    with pytest.raises(CommandError, match="the same command goes on after the last page"):
        run(write(tmp_path / "d.xml", dump(PAGES)), "--corpus", "orla", "--processes", "1")


def test_a_full_disk_is_one_line_and_the_next_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "d.xml", dump(PAGES))

    def full(*arguments: object) -> None:
        raise OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(ingestion, "store_records", full)
        with pytest.raises(CommandError, match="the disk is full; free some space"):
            run(path, "--corpus", "orla", "--processes", "1")
    assert "2 articles" in run(path, "--corpus", "orla", "--processes", "1")
    assert Article.objects.count() == 2
