"""Chapters are found by their headings, and a table of contents makes none."""

import pytest

from collector.ingest.books.parsing import find_chapters
from collector.ingest.books.tests.making import story

ONE_TO_TWENTY_TWO = (
    "One Two Three Four Five Six Seven Eight Nine Ten Eleven Twelve Thirteen Fourteen Fifteen "
    "Sixteen Seventeen Eighteen Nineteen Twenty Twenty-One TWENTY-TWO"
).split()


def book(*headings: str, front: str = "") -> str:
    """Return a book with a chapter under each heading."""
    return "\n\n\n".join([front, *(f"{heading}\n\n{story()}" for heading in headings)])


@pytest.mark.parametrize(
    "headings",
    [
        ["CHAPTER I", "CHAPTER II", "CHAPTER III"],
        ["Chapter 1. Into the Wood", "Chapter 2. Out of It"],
        ["CHAPTER I. I GO OUT", "CHAPTER II. THE 16TH AND 17TH OF JULY"],
        ["FIRST ACT", "SECOND ACT", "THIRD ACT", "FOURTH ACT"],
        ["ACT I", "ACT II"],
        ["I", "II", "III", "IV"],
        ["I. The Dragon’s House.", "II. How They Came Home.", "III. The End of It."],
        ["Letter 1", "Letter 2"],
        # One number is missing, or several.
        ["Chapter 1", "Chapter 3", "Chapter 4"],
        ["I", "II", "IV", "V"],
        ["Chapter 1", "Chapter 5", "Chapter 6", "Chapter 8"],
        ["CHAPTER THE FIRST", "CHAPTER THE SECOND"],
        [f"Chapter {word}" for word in ONE_TO_TWENTY_TWO],
        [f"The {word} Part" for word in ("First", "Second", "Third")],
        ["THE SON", "THE FERRYMAN", "OM"],
    ],
)
def test_each_way_of_numbering_is_known(headings: list[str]) -> None:
    text = book(*headings)
    found = find_chapters(text)
    assert [chapter.heading for chapter in found] == headings
    assert all(text[one.start :].startswith(one.heading) for one in found)
    assert [one.end for one in found] == [*(one.start for one in found[1:]), len(text)]


def test_a_title_below_the_number_belongs_to_the_heading() -> None:
    text = book("_I_\n\nTHE FINDING", "_II_\n\nTHE PLAIN", "_III_\n\nThe Arena")
    assert [one.heading for one in find_chapters(text)] == [
        "I THE FINDING",
        "II THE PLAIN",
        "III The Arena",
    ]


def test_the_first_line_of_the_text_is_no_title() -> None:
    text = "\n\n\n".join(f"{number}\n\nShe ran.\n\n{story()}" for number in ("I", "II", "III"))
    assert [one.heading for one in find_chapters(text)] == ["I", "II", "III"]


def test_a_part_and_its_first_chapter_are_one() -> None:
    text = book(
        "FIRST PART\n\n\nCHAPTER I", "CHAPTER II", "SECOND PART\n\n\nCHAPTER I", "CHAPTER II"
    )
    assert [one.heading for one in find_chapters(text)] == [
        "FIRST PART CHAPTER I",
        "CHAPTER II",
        "SECOND PART CHAPTER I",
        "CHAPTER II",
    ]


def test_the_table_of_contents_is_no_chapter() -> None:
    listed = "CONTENTS\n\nCHAPTER I\n\nCHAPTER II\n\nCHAPTER III"
    text = book("CHAPTER I", "CHAPTER II", "CHAPTER III", front=listed)
    assert len(find_chapters(text)) == 3
    assert find_chapters(text)[0].start > len(listed)


def test_titles_without_numbers_are_known_by_the_table_of_contents() -> None:
    listed = "CONTENTS\n\nPeter Pan ..... 3\nThe Little House ..... 20\nLock-out Time ..... 31"
    text = book("Peter Pan", "The Little House", "Lock-out Time", front=listed)
    assert [one.heading for one in find_chapters(text)] == [
        "Peter Pan",
        "The Little House",
        "Lock-out Time",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "One line.",
        story(),
        # A pronoun, footnotes, a list, numbers that do not begin at one.
        "\n\n".join([story(), "I", story(), "It was I.", story()]),
        "\n\n".join([story(), *(f"{number}.  See page {number}." for number in range(1, 60))]),
        book("CHAPTER IV", "CHAPTER IX"),
        # A heading at the end; a table of contents that lists nothing; letters like figures'.
        f"{story()}\n\nEND OF VOLUME I\n\nVOLUME II",
        f"{story()}\n\nContents",
        book("CHAPTER \N{LATIN SMALL LETTER DOTLESS I}", "ACT \N{LATIN SMALL LETTER LONG S}ix"),
        book("BOOK \N{LATIN CAPITAL LETTER I WITH DOT ABOVE}"),
        # A line of blanks is read in no time.
        f"Contents\n\nx{' ' * 200_000}y",
    ],
)
def test_where_a_text_is_not_parted_no_chapter_is_invented(text: str) -> None:
    assert find_chapters(text) == []
