"""What must hold of twenty real books, read from the folder named by COLLECTOR_DATA."""

import csv
import re
from pathlib import Path

import pytest
from django.core.management import call_command

from collector.ingest.segmentation import tokens
from collector.models import Book, Corpus

pytestmark = [pytest.mark.data, pytest.mark.django_db]

# Of the twenty these have none: two tales, a play in one act and a dialogue.
WITHOUT_CHAPTERS = {
    "The Cask of Amontillado",
    "The Legend of Sleepy Hollow",
    "Riders to the Sea",
    "Crito",
}
CHAPTERS = {
    "An Ideal Husband": 4,
    "Little Lord Fauntleroy": 15,
    "Otto of the Silver Hand": 14,
    "Peter Pan in Kensington Gardens": 4,
    "Rebecca of Sunnybrook Farm": 31,
    "Siddhartha (novel)": 12,
    "The Art of War": 13,
    "The Call of the Wild": 7,
    "The House on the Borderland": 27,
    "The Mysterious Affair at Styles": 13,
    "The Outlaw of Torn": 19,
    "The Princess and the Goblin": 32,
    "The Return of the Soldier": 6,
    "The Time Machine": 16,
    "The Time Traders": 18,
    "Thuvia, Maid of Mars": 14,
}
LICENCE = re.compile(
    r"project gutenberg|\be-?text|small print|www\.gutenberg|public domain|electronic works?"
    r"|anyone anywhere|produced by (?!\w+ing)|transcribed from",
    re.I,
)
# A preface by who typed it belongs to the text, and says so in these words.
OWN_WORDS = {"The Art of War": ["Project Gutenberg", "Etext", "etext", "etext"]}


# A tale without chapters, a play, a preface by who typed it, and a novel.
FOUR = ("The-Cask-of-Amontillado", "An-Ideal-Husband", "The-Art-of-War", "The-Call-of-the-Wild")


@pytest.mark.parametrize("names", [FOUR, pytest.param(("",), marks=pytest.mark.long)])
def test_books_are_read_whole(data: Path, names: tuple[str, ...]) -> None:
    files = [path for path in sorted((data / "books").glob("*.txt")) if path.name.startswith(names)]
    documents = data / "replay" / "narrativeqa_documents.csv"
    call_command("ingest_books", *map(str, [*files, documents]), "--corpus=real", "--json")
    books = {book.document: book for book in Corpus.objects.get().books.all()}
    assert len(books) == len(files) == (4 if names == FOUR else 20)
    with (data / "books" / "index.tsv").open(encoding="utf-8") as lines:
        listed = {
            row["narrativeqa_document_id"]: row for row in csv.DictReader(lines, delimiter="\t")
        }
    assert books.keys() <= listed.keys()
    wholes = {path.name: path.read_text("utf-8") for path in files}
    for document, book in books.items():
        assert book.front + book.text + book.back == wholes[book.file_name], book
        assert book.set == listed[document]["narrativeqa_set"]
        passages = list(book.passages.all())
        # Every offset is exact: a passage begins and ends with a token, and leaves none out.
        places = tokens(book.text, "en")
        assert [one.start for one in passages] == [place[0] for place in places[::200]]
        assert [one.end for one in passages][:-1] == [place[1] for place in places[199:-1:200]]
        assert passages[-1].end == places[-1][1] == len(book.text.rstrip())
        texts = [book.text[one.start : one.end] for one in passages]
        assert "".join("".join(texts).split()) == "".join(book.text.split())
        licence = [found[0] for text in texts for found in LICENCE.finditer(text)]
        assert licence == OWN_WORDS.get(book.article.title, []), book.article.title
    by_title = {book.article.title: book.chapters.count() for book in books.values()}
    assert {title: CHAPTERS.get(title, 0) for title in by_title} == by_title
    assert CHAPTERS.keys() | WITHOUT_CHAPTERS >= by_title.keys()
    for book in Book.objects.prefetch_related("chapters"):
        for chapter in book.chapters.all():
            heading = " ".join(book.text[chapter.start : chapter.end][:400].split())
            assert chapter.heading.split()[0] in heading.replace("_", "").split()[0]
