"""A book's bytes are told apart: its encoding, a page in HTML, and what is no text at all."""

import pytest

from collector.ingest.decoding import decode
from collector.ingest.errors import BookError

FRENCH = "«\u00a0Où est passée l'héroïne\u00a0?\u00a0» demanda-t-il à sa mère, près du château. "
RUSSIAN = "Мельникова дочь перешла реку вечером, и никто в деревне этого не видел. "


@pytest.mark.parametrize(
    ("text", "encoding", "name"),
    [
        (FRENCH, "utf-8", "utf-8"),
        (FRENCH, "utf-8-sig", "utf-8-sig"),
        (FRENCH, "utf-16", "utf-16"),
        ("plain", "ascii", "utf-8"),
    ],
)
def test_what_marks_its_encoding_or_is_utf_8_is_read_so(
    text: str, encoding: str, name: str
) -> None:
    assert decode((text * 20).encode(encoding), "a.txt") == (text * 20, name)


@pytest.mark.parametrize(
    ("declared", "encoding"),
    [("ISO-8859-1", "cp1252"), ("ISO Latin-1", "cp1252"), ("Windows-1251", "cp1251")],
)
def test_what_a_header_declares_is_believed(declared: str, encoding: str) -> None:
    text = f"Character set encoding: {declared}\n\n" + (
        RUSSIAN if encoding == "cp1251" else "“Où?” – là."
    )
    assert decode(text.encode(encoding), "a.txt") == (text, encoding)


@pytest.mark.parametrize("encoding", ["cp1251", "koi8-r"])
def test_what_says_nothing_is_guessed_by_its_letters(encoding: str) -> None:
    assert decode((RUSSIAN * 50).encode(encoding), "a.txt").text == RUSSIAN * 50


def test_a_declaration_that_cannot_be_true_is_not_believed() -> None:
    text = "Character set encoding: ASCII\n\n" + FRENCH * 30
    assert decode(text.encode("utf-8"), "a.txt") == (text, "utf-8")
    assert "héroïne" in decode(text.encode("cp1252"), "a.txt").text


def test_every_line_ends_alike() -> None:
    assert decode(b"one\r\ntwo\rthree\n", "a.txt").text == "one\ntwo\nthree\n"


def test_of_a_screenplays_page_what_is_set_in_fixed_pitch_is_read() -> None:
    page = (
        "<!DOCTYPE html><html><head><title>Scripts</title><script>var x;</script></head><body>"
        "<p>Buy posters</p><pre><b>INT. MILL</b>\n\n   GRACE\n Who&#8217;s there?</pre></body>"
    )
    assert decode(page.encode(), "a.html").text == "INT. MILL\n\n   GRACE\n Who’s there?"


def test_of_another_page_all_that_is_shown_is_read() -> None:
    page = "<html><head><style>p{}</style></head><body><p>One.</p><p>Two.</p></body></html>"
    assert decode(page.encode(), "a.html").text.split() == ["One.", "Two."]


def test_a_section_that_no_page_has_is_a_comment() -> None:
    page = "<html><body><p>One.<![x y]>Two.</p><![![!></body></html>"
    assert decode(page.encode(), "a.html").text.split() == ["One.Two."]


def test_a_book_with_one_part_in_fixed_pitch_is_read_whole() -> None:
    page = (
        "<html><head><title>Quarn</title><body><h5>I</h5>He wrote:<pre>Come\n  soon.</pre>She came"
        "<table><tr><td>1871<td>Ada</table>" + "<p>And the story goes on.</p>" * 9
    )
    words = "I He wrote: Come soon. She came 1871 Ada " + "And the story goes on. " * 9
    assert decode(page.encode(), "a.html").text.split() == words.split()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"PK\x03\x04rest", "a.txt is a zip archive; unpack it"),
        (b"%PDF-1.4 rest", "a.txt is a PDF; convert it to plain text"),
        (b"\x89PNG\r\n", "a.txt is an image"),
        (b" \n\n ", "a.txt is empty"),
        (bytes(range(32)) * 10, "a.txt is no text: it holds bytes that no text has"),
    ],
)
def test_what_is_no_text_is_refused_in_one_line(content: bytes, sentence: str) -> None:
    with pytest.raises(BookError, match=sentence) as refused:
        decode(content, "a.txt")
    assert "\n" not in str(refused.value)
