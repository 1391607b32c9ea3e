"""The command stores books whole, tells what it read, and says in one line what it cannot read."""

import itertools
from io import StringIO
from pathlib import Path

import orjson
import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from collector.ingest.books import ingestion
from collector.ingest.books.tests.making import document, gutenberg, pair, story, table, write
from collector.ingest.tests.dumps import dump
from collector.models import Article, Book, BookQuestion, Chapter, Corpus, Paragraph, Passage
from collector.protocols.creation import create_collection
from collector.protocols.loading import all_protocols

pytestmark = pytest.mark.django_db

TEXT = "\n\n\n".join(f"CHAPTER {number}\n\n{story()}" for number in ("I", "II", "III"))
SUMMARY = {"document_id": "ford", "set": "valid", "summary": " A girl crosses a ford."}


def run(*arguments: object) -> str:
    out = StringIO()
    named = () if "--corpus" in arguments else ("--corpus", "mill")
    call_command("ingest_books", *map(str, (*arguments, *named, "--processes", 1)), stdout=out)
    return out.getvalue()


def rows() -> tuple[int, ...]:
    return tuple(
        model.objects.count()
        for model in (Corpus, Article, Book, Chapter, Passage, BookQuestion, Paragraph)
    )


@pytest.fixture
def ford(tmp_path: Path) -> Path:
    return write(tmp_path / "ford.txt", gutenberg(TEXT))


@pytest.fixture
def tables(tmp_path: Path) -> list[Path]:
    return [
        table(tmp_path / "documents.csv", document("ford"), document("weir", story_url="")),
        table(tmp_path / "qaps.csv", pair("ford"), pair("ford", "When?"), pair("weir")),
        table(tmp_path / "summaries.csv", SUMMARY),
    ]


def test_it_stores_a_book_with_all_that_is_said_of_it(ford: Path, tables: list[Path]) -> None:
    printed = run(ford, *tables)
    assert "The Ford: " in printed
    assert "3 chapters, 2 questions (utf-8)" in printed
    assert "1 rows are of documents whose books were not given." in printed
    assert "mill: 1 books, 3 chapters," in printed
    assert printed.endswith("1 summaries; English, licence Public domain in the USA.\n")
    book = Book.objects.get(document="ford")
    assert (book.article.title, book.author, book.set, book.kind) == (
        *("The Ford", "Ada Mill", "valid", "book"),
    )
    assert [(one.text, one.answers) for one in book.questions.all()] == [
        ("Who crossed the ford?", ["The miller's daughter.", "a girl"]),
        ("When?", ["The miller's daughter.", "a girl"]),
    ]
    assert book.article.paragraphs.get().text == "A girl crosses a ford."
    assert book.text == TEXT
    assert book.front + book.text + book.back == ford.read_text()


def test_passages_hold_every_token_once_and_in_order(ford: Path) -> None:
    run(ford, "--passage-tokens", 50)
    book = Book.objects.get()
    passages = list(book.passages.all())
    assert [one.n_tokens for one in passages[:-1]] == [50] * (len(passages) - 1)
    assert sum(one.n_tokens for one in passages) == book.n_tokens
    held = "".join(book.text[one.start : one.end] for one in passages)
    assert "".join(held.split()) == "".join(book.text.split())
    assert all(one.end <= after.start for one, after in itertools.pairwise(passages))


def test_without_a_table_a_book_is_named_after_its_file(tmp_path: Path) -> None:
    run(write(tmp_path / "My_Mill.txt", story()), "--name", "Mills")
    book = Book.objects.get()
    assert (book.document, book.article.title, book.front) == ("My_Mill", "My Mill", "")
    assert Corpus.objects.get().licence_name == "unknown"


def test_a_book_is_known_by_its_number_in_project_gutenberg(
    tmp_path: Path, tables: list[Path]
) -> None:
    run(write(tmp_path / "pg0007.txt", gutenberg(TEXT, number=7)), *tables)
    assert Book.objects.get().document == "ford"


def test_a_story_lies_between_the_marks_of_its_row(tmp_path: Path) -> None:
    text = f"Scripts.com\n\nFADE IN: the mill\n\n{story()}\n\nFADE OUT.\n\nBuy posters!"
    row = document("ford", kind="movie", story_start="FADE IN : the", story_end="FADE OUT .")
    found = run(
        write(tmp_path / "ford.content", text), table(tmp_path / "documents.csv", row), "--json"
    )
    book = Book.objects.get()
    assert book.text.startswith("FADE IN")
    assert book.text.endswith("FADE OUT.")
    assert book.kind == "screenplay"
    assert orjson.loads(found)["marks_missing"] == []


def test_marks_that_are_not_there_are_told(ford: Path, tmp_path: Path) -> None:
    row = document("ford", story_start="Nowhere said")
    told = run(ford, table(tmp_path / "documents.csv", row))
    assert "1 books without the words that their story begins or ends with" in told
    assert f"licence alone: {Book.objects.get().article.title}." in " ".join(told.split())


def test_marks_that_a_table_does_not_give_are_not_missed(ford: Path, tmp_path: Path) -> None:
    row = document("ford", story_start="", story_end=" ")
    found = run(ford, table(tmp_path / "documents.csv", row), "--json")
    assert orjson.loads(found)["marks_missing"] == []


def test_json_is_one_object_with_the_counts_of_each_book(ford: Path) -> None:
    found = orjson.loads(run(ford, "--json"))
    assert found["state"] == "ready"
    assert found["counts"]["books"] == 1
    assert found["books"]["ford"]["chapters"] == 3


def test_run_twice_is_run_once(ford: Path, tables: list[Path]) -> None:
    run(ford, *tables)
    before = rows()
    assert "1 books were in the corpus already." in run(ford, *tables)
    assert rows() == before


def test_a_run_that_was_stopped_goes_on_after_the_last_book(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [write(tmp_path / f"{name}.txt", gutenberg(TEXT, title=name)) for name in "abc"]
    store = ingestion._store

    def stop_at_the_second(corpus: Corpus, record: object, *rest: object) -> None:
        if Book.objects.exists():
            raise KeyboardInterrupt
        store(corpus, record, *rest)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(ingestion, "_store", stop_at_the_second)
        with pytest.raises(CommandError, match="the same command goes on after the last book"):
            run(*files)
    assert (Book.objects.count(), Corpus.objects.get().state) == (1, "ingesting")
    assert "3 books" in run(*files)
    assert (Book.objects.count(), Corpus.objects.get().state) == (3, "ready")


def test_tables_may_come_later(ford: Path, tables: list[Path]) -> None:
    run(ford)
    assert "2 questions, 1 summaries" in run(*tables)
    assert BookQuestion.objects.count() == 2


def test_two_books_of_one_title_are_told_apart(tmp_path: Path) -> None:
    run(*(write(tmp_path / f"{name}.txt", gutenberg(TEXT)) for name in ("first", "second")))
    titles = Article.objects.order_by("page_id").values_list("title", flat=True)
    assert list(titles) == ["The Ford", "The Ford (second)"]


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("note.txt", "Too short.", r"note\.txt is no book: it has fewer than 100 words"),
        ("page.txt", "%PDF-1.7", r"page\.txt is a PDF"),
        ("qaps.csv", "document_id,question,answer1\nford,a,b\n", "lacks the column answer2"),
        ("summaries.csv", "summary\nIt.\n", r"summaries\.csv lacks the column document_id"),
        ("documents.csv", "document_id,story_url\nford,x\n", r"documents\.csv lacks the column"),
        ("qaps.csv", "document_id,question,answer1,answer2\nford,a,b\n", "line 2: it has not as"),
        ("qaps.csv", "document_id,question,answer1,answer2\nford,a,b,\n", "an answer is empty"),
        ("qaps.csv", 'document_id,question,answer1,answer2\nford,a,b,"c', "line 1: unexpected end"),
        ("other.csv", "name,age\nAda,36\n", r"other\.csv is no table of books"),
        (
            "qaps.csv",
            "document_id,question,answer1,answer2\nweir,a,b,c\n",
            "a pair is of the document 'weir', which is not there",
        ),
        ("summaries.csv", "document_id,summary\nweir,It.\n", "a summary is of the document 'weir'"),
    ],
)
def test_what_is_wrong_is_one_line_and_stores_nothing(
    ford: Path, name: str, text: str, sentence: str
) -> None:
    with pytest.raises(CommandError, match=sentence) as refused:
        run(ford, write(ford.parent / name, text))
    assert "\n" not in str(refused.value)
    assert rows() == (0,) * 7


def test_a_row_of_an_unknown_kind_is_refused_by_its_line(ford: Path, tmp_path: Path) -> None:
    wrong = table(tmp_path / "documents.csv", document("ford"), document("b", kind="song"))
    with pytest.raises(CommandError, match=r"documents\.csv, line 3: kind is gutenberg or movie"):
        run(ford, wrong)


def test_a_book_that_no_row_names_is_refused(ford: Path, tmp_path: Path) -> None:
    rows_of_others = table(tmp_path / "documents.csv", document("weir", story_url=""))
    with pytest.raises(CommandError, match=r"ford\.txt: no row of documents\.csv is its"):
        run(ford, rows_of_others)


def test_one_book_twice_is_refused(ford: Path, tables: list[Path]) -> None:
    again = write(ford.parent / "again.txt", gutenberg(TEXT))
    with pytest.raises(CommandError, match="are the same book, 'ford'; give one of them"):
        run(ford, again, *tables)


def test_another_file_of_the_same_name_is_refused(ford: Path, tables: list[Path]) -> None:
    run(ford, tables[0])
    write(ford, gutenberg(TEXT + " And then."))
    with pytest.raises(CommandError, match=r"ford\.txt differs from the file that the corpus mill"):
        run(ford, tables[0])


def test_a_corpus_has_passages_of_one_size(ford: Path) -> None:
    run(ford)
    with pytest.raises(CommandError, match="has passages of 200 tokens; give books cut into 100"):
        run(ford, "--passage-tokens", 100)


def test_tables_that_say_something_else_than_before_are_refused(
    ford: Path, tables: list[Path], tmp_path: Path
) -> None:
    run(ford, *tables)
    other = table(tmp_path / "other.csv", pair("ford", "Why?"))
    with pytest.raises(CommandError, match="say something else of 'ford' than the corpus mill"):
        run(other)


def test_a_book_in_another_language_is_refused(ford: Path) -> None:
    run(ford)
    other = write(ford.parent / "gue.txt", gutenberg(TEXT, language="French"))
    with pytest.raises(CommandError, match=r"gue\.txt is in French, the corpus mill in English"):
        run(other)
    run(other, "--language", "en")


def test_wikis_and_books_have_corpora_of_their_own(ford: Path, tmp_path: Path) -> None:
    run(ford)
    wiki = write(tmp_path / "d.xml", dump({"Orla": "Deep."}))
    with pytest.raises(CommandError, match=r"The corpus mill holds no wiki; give d\.xml one"):
        call_command("ingest_dump", str(wiki), "--corpus", "mill")
    call_command("ingest_dump", str(wiki), "--corpus", "orla", "--processes", "1", "--json")
    with pytest.raises(CommandError, match="The corpus orla holds no books; give these one of"):
        run(ford, "--corpus", "orla")


def test_a_corpus_that_is_collected_from_takes_no_more_books(ford: Path) -> None:
    run(ford)
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
    assert "already" in run(ford)
    with pytest.raises(CommandError, match="uses the corpus mill, so it stays as it is"):
        run(write(ford.parent / "new.txt", story()))


def test_tables_alone_make_no_corpus(tables: list[Path]) -> None:
    with pytest.raises(CommandError, match="There is no corpus 'mill' yet: give it books"):
        run(*tables)


def test_several_processes_read_what_one_reads(tmp_path: Path) -> None:
    files = [write(tmp_path / f"{name}.txt", gutenberg(TEXT, title=name)) for name in "abc"]
    out = StringIO()
    call_command(
        "ingest_books", *map(str, files), "--corpus=two", "--processes=2", "--json", stdout=out
    )
    one = orjson.loads(run(*files, "--json"))
    two = orjson.loads(out.getvalue())
    assert two["books"] == one["books"]
    assert two["counts"] == one["counts"]
