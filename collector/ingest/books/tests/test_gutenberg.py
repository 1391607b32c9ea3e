"""Project Gutenberg's licence and credits are cut off, whatever the year of the file."""

import pytest

from collector.ingest.books.parsing import Document, Tables, book_bounds, header
from collector.ingest.books.tests.making import gutenberg, story
from collector.ingest.errors import BookError

OLD = (
    "*********The Project Gutenberg Etext of Crito, by Plato*********\n\n"
    "March, 1999  [Etext #1657]\n\n"
    "***START**THE SMALL PRINT!**FOR PUBLIC DOMAIN ETEXTS**START***\nWhy is this here?\n"
    "*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*\n\n\n"
    "This etext was prepared by Grace\n\n\nCRITO\n\nA dialogue.\n\n\n\n"
    "End of this Project Gutenberg Etext of Crito, by Plato\n"
)


def test_nothing_but_the_book_is_left() -> None:
    whole = gutenberg("THE FORD\n\nA tale.")
    found = book_bounds(whole, "a.txt")
    assert whole[found.start : found.end] == "THE FORD\n\nA tale."
    assert found.is_gutenberg


def test_files_from_before_2004_are_cut_too() -> None:
    found = book_bounds(OLD, "a.txt")
    assert OLD[found.start : found.end] == "CRITO\n\nA dialogue."
    told = header(OLD[: found.start])
    assert (told.title, told.author, told.number) == ("Crito", "Plato", 1657)


def test_a_header_tells_title_author_language_and_number() -> None:
    told = header(gutenberg("", 7, "The Ford", "French"))
    assert (told.title, told.author, told.language, told.number) == (
        "The Ford",
        "Ada Mill",
        "French",
        7,
    )


def test_a_number_that_no_book_has_is_none_and_a_line_of_blanks_takes_no_time() -> None:
    number = "9" * 5000
    assert header(gutenberg("").replace("#7]", f"#{number}]")).number is None
    row = Document("a", "train", "book", f"https://gutenberg.org/ebooks/{number}", "", "", "")
    assert Tables({"a": row}).of_ebook(7) is None
    whole = gutenberg(f"A tale.\n{' ' * 300_000}\nThe end.")
    found = book_bounds(whole, "a.txt")
    assert whole[found.start : found.end].endswith("The end.")


def test_a_copyrighted_book_says_so() -> None:
    assert header("** This is a COPYRIGHTED Project Gutenberg eBook **\n").is_copyrighted
    assert not header(gutenberg("")).is_copyrighted


def test_a_book_that_speaks_of_the_end_is_whole() -> None:
    text = story(first="It was the end of the project, Gutenberg said, and of the road.")
    found = book_bounds(text, "a.txt")
    assert (found.start, found.end, found.is_gutenberg) == (0, len(text), False)


def test_a_file_that_was_cut_short_is_refused() -> None:
    short = gutenberg(story()).partition("End of the Project")[0]
    with pytest.raises(BookError, match=r"a\.txt ends before Project Gutenberg's last lines"):
        book_bounds(short, "a.txt")
