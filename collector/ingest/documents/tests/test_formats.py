"""Every format is read into the same blocks: headings, paragraphs, items; no tables, no notes."""

import unicodedata
from pathlib import Path

import orjson
import pytest

from collector.ingest.documents.blocks import Block, DocumentText, cleaned, sections_of
from collector.ingest.documents.files import DocumentFile
from collector.ingest.documents.formats.pdf import read_blocks, read_pdf
from collector.ingest.documents.formats.plain_text import read_plain_text
from collector.ingest.documents.formats.web_page import read_markdown, read_web_page
from collector.ingest.documents.pdf_lines import (
    Letter,
    Line,
    Page,
    in_order_of_reading,
    is_exponent,
    with_pieces,
)
from collector.ingest.documents.reading import FoundDocument, read_files
from collector.ingest.documents.tests import making
from collector.ingest.documents.tests.making import ARABIC, GERMAN, prose
from collector.ingest.segmentation import split

FIRST, SECOND = prose(5), prose(3, "the other ")
WANTED = [
    ("heading", "The Lighthouse"),
    ("heading", "How it was built"),
    ("paragraph", FIRST),
    ("heading", "Who lived there"),
    ("paragraph", SECOND),
]
ONE_TABLE = "1 table is left out."
STORY = [
    ("Title", "The Lighthouse"),
    ("Heading1", "How it was built"),
    ("BodyText", FIRST),
    ("table", "year|keeper\n1871|Ada\n1930|Grace"),
    ("Heading1", "Who lived there"),
    ("BodyText", SECOND),
]


def told(text: DocumentText) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in text.blocks]


def found(path: Path) -> FoundDocument:
    (read,) = next(read_files([DocumentFile(path.name, path)], 1, {}))
    assert isinstance(read, FoundDocument), read
    return read


def test_plain_text_has_headings_lists_and_lines_broken_by_hand() -> None:
    broken = (
        FIRST.replace(" by ", "\nby ").replace(" at ", "\n   at ").replace("1871", "1871 [1]", 1)
    )
    read = read_plain_text(
        f"The Lighthouse\n\n1. How it was built\n\n{broken}\n\nyear   keeper\n1871   Ada\n\n"
        f"WHO LIVED THERE\n\n- one\n- two\n  more\n\n{SECOND}\n\n---\n\n[1] A note.\n"
    )
    assert told(read) == [
        WANTED[0],
        ("heading", "1. How it was built"),
        ("paragraph", FIRST.replace("1871", "1871 [1]", 1)),
        ("heading", "WHO LIVED THERE"),
        ("list_item", "one"),
        ("list_item", "two more"),
        WANTED[4],
    ]
    assert read.title == "The Lighthouse"
    assert list(read.notes) == [ONE_TABLE, "1 note is left out."]


@pytest.mark.parametrize(
    "below",
    [
        "* the keeper pays the parish\n* the parish pays the keeper",
        "(1) The keeper pays.\n\n(2) The parish (1) pays.",
        "**Pay** is due each fortnight.",
        "[2] Nobody refers to this one.",
        "[1] The first is referred to.\n[2] The second is not.",
        "[1] A note.\n\nWhat goes on here is no note.",
        "[1] A note.\n\n---\n\nThe end.",
        "² What follows a square is none.\n\n³ Nor is this.",
    ],
)
def test_what_follows_a_rule_is_kept_unless_all_of_it_is_notes_that_the_text_refers_to(
    below: str,
) -> None:
    above = f"**Terms**, as in [1] and under (1), for 3 m² of rock. {FIRST}"
    for rule in ("-----", "*****", "_____"):
        read = read_plain_text(f"{above}\n\n{rule}\n\n{below}\n")
        words = " ".join(block.text for block in read.blocks).split()
        assert words[-1] == below.split()[-1]
        assert list(read.notes) == []


@pytest.mark.parametrize(
    "text",
    [
        "The keeper writes a | b for either,\nand the parish | which pays | reads it so.",
        "The   lighthouse of Quarn    was\nbuilt  in   1871  by   Ada   Mill   and\n"
        "her two   brothers,   who    had  a\nboat   of   their   own.",
        "The lighthouse   stands on\na rock that was   cut off.",
    ],
)
def test_paragraphs_with_bars_or_justified_by_blanks_are_no_tables(text: str) -> None:
    assert told(read_plain_text(f"{text}\n\n{text}")) == [("paragraph", " ".join(text.split()))] * 2


@pytest.mark.parametrize(
    "table",
    [
        "year   keeper\n1871   Ada\n1930   Grace Mill",
        "Ada Mill      12\nGrace          7\nAll        1,019",
        "name\tyear\nAda and her brothers\t1871\nGrace\t1930",
        "| year | keeper |\n|---|---|\n| 1871 | Ada Mill |",
        "year | keeper\n-----+-------\n1871 | Ada Mill",
    ],
)
def test_cells_in_columns_or_between_bars_are_a_table(table: str) -> None:
    read = read_plain_text(f"{FIRST}\n\n{table}\n")
    assert told(read) == [("paragraph", FIRST)]
    assert list(read.notes) == [ONE_TABLE]


def test_what_looks_like_headings_without_text_is_kept_as_paragraphs() -> None:
    items = "1. Light the lamp\n\n2. Ring the bell\n\n3. Wait\n\n4. Go\n"
    read = read_plain_text(f"What to do\n\n{items}")
    assert told(read) == [
        ("heading", "What to do"),
        ("paragraph", "1. Light the lamp"),
        ("paragraph", "2. Ring the bell"),
        ("heading", "3. Wait"),
        ("list_item", "Go"),
    ]


def test_notes_that_the_text_refers_to_are_counted() -> None:
    above = f"See [1], Ada¹ and the rock†. {FIRST}"
    read = read_plain_text(f"{above}\n\n---\n\n[1] One,\n  at length.\n¹ Two.\n\n† Three.\n")
    assert told(read) == [("paragraph", above)]
    assert list(read.notes) == ["3 notes are left out."]


def test_markdown_has_notes_tables_and_a_title_of_its_own() -> None:
    marked = FIRST.replace("1871", "**18**71[^1]", 1)
    read = read_markdown(
        f"---\ntitle: 'Quarn'\n---\n# The Lighthouse\n\n## How it was built\n\n{marked}\n\n"
        f"|year|keeper|\n|-|-|\n|1871|Ada|\n\n## Who lived there\n\n{SECOND}\n\n[^1]: A note.\n"
    )
    assert told(read) == WANTED
    assert read.title == "Quarn"


def test_a_web_page_is_read_without_what_surrounds_it() -> None:
    marked = FIRST.replace("1871", "<b>18</b>71<sup><a href='#n1'>[1]</a></sup>", 1)
    read = read_web_page(
        "<!doctype html><html lang=en><title>Quarn: The Lighthouse</title><body>"
        "<header>Our site</header><nav><ul><li>Home</ul></nav><main><h1>The Lighthouse</h1>"
        f"<h2>How it was built</h2><p>{marked}<table><tr><td>1871<td>Ada</table>"
        f"<script>alert(1)</script><h2>Who lived there</h2><div>{SECOND}</div>"
        "<section class=footnotes><ol><li id=n1>A note.</ol></section></main>"
        "<footer>Imprint</footer>"
    )
    assert told(read) == WANTED
    assert (read.title, read.language, list(read.notes)) == ("The Lighthouse", "en", [ONE_TABLE])


def test_links_that_sphinx_makes_are_text_and_its_notes_and_their_marks_are_none() -> None:
    mark = '<a class="footnote-reference brackets" href="#n1" id="id1">1</a>'
    read = read_web_page(
        f'<p>See <a class="reference internal" href="b.html">the lamp</a>.{mark} Ada wrote to '
        '<a class="reference external" href="https://a.b">the office</a>.'
        '<sup class=reference>a</sup><dl class="footnote brackets"><dt>1</dt><dd>A note.</dd></dl>'
    )
    assert [block.text for block in read.blocks] == ["See the lamp. Ada wrote to the office."]
    assert read.left_out == {"notes": 9}


def test_a_table_inside_a_table_is_left_out_with_it_and_a_text_says_how_many_it_had() -> None:
    inner = "<table><tr><td>1871<td>Ada</table>"
    read = read_web_page(f"<p>{FIRST}</p><table><tr><td>Years<td>{inner}</table><p>{SECOND}</p>")
    assert told(read) == [WANTED[2], WANTED[4]]
    assert list(read.notes) == ["2 tables are left out."]
    table = "year   keeper\n1871   Ada\n"
    assert list(read_plain_text(f"{FIRST}\n\n{table}\n{SECOND}\n\n{table}").notes) == [
        "2 tables are left out."
    ]
    assert list(read_markdown(f"{FIRST}\n\n|a|b|\n|-|-|\n|1|2|\n").notes) == [ONE_TABLE]


def test_a_page_inside_a_form_and_what_buttons_open_are_read() -> None:
    read = read_web_page(
        f"<body><form><input><label>Search</label><h2>How it was built</h2><p>{FIRST}</p>"
        "<select><option>1871</select><button>Send</button>"
        "<h2><button aria-controls=a>Who lived there</button></h2>"
        f"<div id=a hidden><p>{SECOND}</p></div><div hidden>Unseen.</div></form></body>"
    )
    assert told(read) == WANTED[1:]


def test_a_page_laid_out_by_a_table_is_read() -> None:
    read = read_web_page(f"<table><tr><td><h1>The Lighthouse</h1><p>{FIRST}</table>")
    assert told(read) == [WANTED[0], WANTED[2]]


def test_a_page_laid_out_by_tables_in_tables_is_read_without_its_menu() -> None:
    menu = "<table><tr><td>Menu<tr><td><ul><li>Home<li>Bugs</ul></table>"
    content = f"<table><tr><td><table><tr><td>{FIRST}<ul><li>one</ul></table></table>"
    read = read_web_page(f"<table><tr><td>{menu}<td>{content}</table>")
    assert told(read) == [WANTED[2], ("list_item", "one")]
    assert list(read.notes) == [ONE_TABLE]


@pytest.mark.parametrize(
    ("page", "linked"),
    [
        ("<div>A longer text. <a href=b><p>Title</p></a> (in French)</div>", ["Title"]),
        (
            "<div>Now <a href=b>see <p>the title</p> here</a> (or not)</div>",
            ["see", "the title", "here"],
        ),
        ("<a href=b><div>One</div><div>Two</div></a><p>Three.", ["One", "Two"]),
    ],
)
def test_a_link_around_blocks_lies_over_its_own_words_in_each(page: str, linked: list[str]) -> None:
    read = read_web_page(page)
    assert [
        block.text[start:end] for block in read.blocks for start, end, _ in block.links
    ] == linked
    assert {target for block in read.blocks for _, _, target in block.links} == {"b"}


def test_words_that_two_libraries_read_differently_are_told() -> None:
    read = read_web_page(
        "<p>One two.</p><p>" + "</p><p>".join(["plaintext"] * 3) + "<plaintext>a<b>c"
    )
    assert any("read differently by lxml" in note for note in read.notes)


def test_a_word_file_is_read_by_its_styles(tmp_path: Path) -> None:
    styles = {"Heading1": "Heading 1", "BodyText": "Normal"}
    story = [(styles.get(style, style), text) for style, text in STORY]
    read = found(making.docx(tmp_path / "a.docx", [*story, ("List Bullet", "an item")]))
    assert told(read.text) == [*WANTED, ("list_item", "an item")]
    assert read.title == "The Lighthouse"
    assert list(read.text.notes) == [ONE_TABLE]


def test_a_word_file_says_what_word_shows_once(tmp_path: Path) -> None:
    def run(text: str, properties: str = "") -> str:
        return f"<w:r><w:rPr>{properties}</w:rPr><w:t xml:space='preserve'>{text}</w:t></w:r>"

    hidden, shown, lower = "<w:vanish/>", "<w:vanish w:val='0'/>", "<w:rStyle w:val='Lower'/>"
    box = f"<w:txbxContent><w:p>{run('In a box.')}</w:p></w:txbxContent>"
    table = f"<w:tbl><w:tr><w:tc><w:p>{run('1871')}</w:p></w:tc></w:tr></w:tbl>"
    body = [
        f"<w:p>{run('Before ')}{run('unseen ', hidden)}<w:r><mc:AlternateContent><mc:Choice>{box}"
        f"</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r>{run('it.')}</w:p>",
        f"<w:sdt><w:sdtContent><w:p>{run('In a control.')}</w:p>{table}<w:sdt><w:sdtContent><w:p>"
        f"{run('Deeper.')}</w:p></w:sdtContent></w:sdt></w:sdtContent></w:sdt>",
        f"<w:p><w:moveFrom>{run('Moved. ')}</w:moveFrom>{run('Stays. ')}<w:moveTo>{run('Moved.')}"
        f"</w:moveTo><w:del>{run('Gone.')}</w:del><w:ins>{run(' New.')}</w:ins></w:p>",
        f"<w:p>{run('By style. ', lower)}{run('Shown.', lower + shown)}</w:p>",
        f"<w:p><w:pPr><w:pStyle w:val='Secret'/></w:pPr>{run('All of it.')}</w:p>",
    ]
    styles = (
        f"<w:style w:type='character' w:styleId='Upper'><w:rPr>{hidden}</w:rPr></w:style>"
        "<w:style w:type='character' w:styleId='Lower'><w:basedOn w:val='Upper'/></w:style>"
        f"<w:style w:type='paragraph' w:styleId='Secret'><w:rPr>{hidden}</w:rPr></w:style>"
    )
    read = found(making.docx_of(tmp_path / "a.docx", "".join(body), styles)).text
    assert [block.text for block in read.blocks] == [
        *("Before it.", "In a box.", "In a control.", "Deeper."),
        *("Stays. Moved. New.", "Shown."),
    ]
    assert list(read.notes) == [ONE_TABLE]


def test_a_pdf_is_read_without_running_heads_notes_and_tables(tmp_path: Path) -> None:
    raised = FIRST.replace("1871", "1871<super size=6>1</super>", 1)
    story = [(style, raised if text == FIRST else text) for style, text in STORY]
    path = making.pdf(
        tmp_path / "a.pdf",
        [*story, ("page", ""), ("BodyText", GERMAN)],
        head="Annals of Quarn",
        note="1 A note, which is set small.",
    )
    read = read_pdf(path, "a.pdf")
    assert told(read) == [*WANTED, ("paragraph", GERMAN)]
    told_of = ["Page with tables, which are left out: 1."]
    assert (read.title, read.n_pages, list(read.notes)) == ("The Lighthouse", 2, told_of)


def test_numbers_stay_the_same_numbers_in_every_format(tmp_path: Path) -> None:
    parts = ["It is 10", ("up", "6"), " x 5 m", ("up", "2"), " or 10", ("up", "-27")]
    parts += [" s of H", ("down", "2"), "O."]
    wanted = [("paragraph", "It is 10⁶ x 5 m² or 10⁻²⁷ s of H₂O.")]

    def marked(up: str, down: str) -> str:
        tags = {"up": up, "down": down}
        return "".join(one if isinstance(one, str) else tags[one[0]] % one[1] for one in parts)

    html = marked("<sup>%s</sup>", "<sub>%s</sub>")
    assert told(read_web_page(f"<p>{html}</p>")) == told(read_markdown(html)) == wanted
    assert list(read_web_page(f"<p>{html}</p>").notes) == []
    printed = marked("<super size=6>%s</super>", "<sub size=6>%s</sub>")
    assert told(read_pdf(making.pdf(tmp_path / "a.pdf", [("BodyText", printed)]), "")) == wanted
    assert told(found(making.docx_of_runs(tmp_path / "a.docx", parts)).text) == wanted
    nested = "2<sup>n<sup>2</sup></sup> and 10<sup>10<sup>100</sup></sup>."
    assert told(read_web_page(nested)) == [("paragraph", "2^(n²) and 10^(10¹⁰⁰).")]
    ordinals = "On the 1<sup>st</sup> of <sup>14</sup>C, 2<sup>n</sup>, 3<sup>2.5</sup>."
    assert told(read_web_page(ordinals)) == [("paragraph", "On the 1st of ¹⁴C, 2ⁿ, 3^2.5.")]


def test_ruby_annotations_are_left_out_and_counted() -> None:
    page = read_web_page("<p><ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>を読む。</p>")
    assert told(page) == [("paragraph", "漢字を読む。")]
    assert page.left_out == {"ruby annotations": 5}


@pytest.mark.parametrize(
    ("before", "raised", "is_read"),
    [
        *(("3 x 10", "8", True), ("2", "32", True), ("5 m", "2", True), ("at 9.8 m s", "-2", True)),
        *(("E = mc", "2", True), ("so (1.05)", "5", True), ("R", "2", True), ("Na", "+", True)),
        *(("in 1871", "1", False), ("for 5,000", "3", False), ("$12", "3", False)),
        *(("the 12", "45", False), ("of them", "2", False), ("said he.", "4", False)),
        *(("(as he said)", "1", False), ("", "1", False), ("Known", "5,6", False)),
        *(("said so", "1-3", False), ("the room", "2", False)),
    ],
)
def test_raised_digits_of_numbers_are_told_from_marks_of_notes(
    before: str, raised: str, is_read: bool
) -> None:
    assert is_exponent(before, raised) is is_read


def test_a_paragraph_of_a_pdf_knows_where_its_pages_begin(tmp_path: Path) -> None:
    long = prose(120)
    read = read_pdf(making.pdf(tmp_path / "a.pdf", [("BodyText", long)]), "a.pdf")
    ((start, first), (turn, second)) = read.blocks[0].pages
    assert (start, first, second) == (0, 1, 2)
    assert read.blocks[0].text == long
    assert 0 < turn < len(long)


def lines(*texts: str) -> list[Line]:
    """Return lines of running text, one under another."""
    height = [700.0 - 12 * number for number in range(len(texts))]
    return [
        Line(text, 1, 50, 500, at, at + 10, 10, 2, False, text.endswith("-"), False, False)
        for text, at in zip(texts, height, strict=True)
    ]


def leftward(*words: str, blank: float = 0.3) -> list[Letter]:
    """Return letters as pdfium tells them of words that stand from the right end on, 10 pt high.

    Of every second word it turns the letters round; its blanks have no width and lie elsewhere.
    """
    told, right = list[Letter](), 500.0
    for number, word in enumerate(words):
        letters = []
        for letter in word:
            is_mark = unicodedata.combining(letter)
            left, end = (right + 2.5, right + 2.5) if is_mark else (right - 5, right)
            letters.append(Letter(letter, left, end, 700, 710, is_bold=False))
            right = right if is_mark else left
        told += letters[::-1] if number % 2 else letters
        told.append(Letter(" ", right + 7, right + 7, 700, 710, is_bold=False))
        right -= 10 * blank
    return told[:-1]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("في", "عام", "3002"), "في عام 2003"),
        (("عام", "(mmokpoP)", "السنوي،"), "عام (Popkomm) السنوي،"),
        (("دار", "(ned", "retnU", "reppO)", "الأولى"), "دار (Opper Unter den) الأولى"),
        (("من", "0991-5991", "م"), "من 1990-1995 م"),
        (("حوالي", "5.3", "٠٢٪", "منها"), "حوالي 3.5 ٢٠٪ منها"),
        (("שנת", "5991-0991", "ו", "%05"), "שנת 1990-1995 ו 50%"),
        (("سنوياً", "أُسِّست"), "سنوياً أُسِّست"),
        (("برلين", ")ettiM(", "nilreB", "هنا"), "برلين Berlin (Mitte) هنا"),
    ],
)
def test_a_line_that_runs_to_the_left_is_read_in_its_order(words: list[str], text: str) -> None:
    read = in_order_of_reading(leftward(*words))
    assert unicodedata.normalize("NFC", read) == unicodedata.normalize("NFC", text)


def test_a_line_that_runs_to_the_left_is_whole_where_pdfium_cuts_it() -> None:
    line = leftward("كانت", "المدينة", "عموماً", "كبيرة")
    (whole,) = with_pieces([line[:17], line[17:]])
    assert in_order_of_reading(whole) == "كانت المدينة عموماً كبيرة"
    below = [letter._replace(bottom=680, top=690) for letter in line]
    assert len(list(with_pieces([line, below]))) == 2


def test_words_parted_at_the_end_of_a_line_are_whole() -> None:
    texts = ("The light-", "house was a well-", "known light-", "House. Light is well-known.")
    page = Page(1, 842, lines(*texts), agrees=True)
    ((block,), _) = read_blocks([page])
    assert block.text == "The lighthouse was a well-known light-House. Light is well-known."


@pytest.mark.parametrize(
    ("text", "language"), [(FIRST + FIRST, "en"), (GERMAN, "de"), (ARABIC * 2, "ar"), ("Ja.", "")]
)
def test_the_language_is_told_apart(tmp_path: Path, text: str, language: str) -> None:
    assert found(making.write(tmp_path / "a.txt", text)).language == language


def test_encodings_are_told_apart(tmp_path: Path) -> None:
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "cp1252"):
        path = making.write(tmp_path / "a.txt", GERMAN.encode(encoding))
        assert told(found(path).text) == [("paragraph", GERMAN)]
    page = f"<meta charset=iso-8859-2><p>Złoty łan. {FIRST}".encode("iso-8859-2")
    assert "Złoty łan" in found(making.write(tmp_path / "a.html", page)).text.blocks[0].text
    page = f'<?xml version="1.0" encoding="UTF-16"?><html><body><p>{GERMAN}</p></body></html>'
    for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
        path = making.write(tmp_path / "a.xhtml", page.encode(encoding))
        assert told(found(path).text) == [("paragraph", GERMAN)]


def test_every_sentence_lies_where_its_offsets_say(tmp_path: Path) -> None:
    path = making.pdf(tmp_path / "a.pdf", [("BodyText", prose(12)), ("BodyText", GERMAN)])
    for block in read_pdf(path, "a.pdf").blocks:
        sentences = [block.text[start:end] for start, end in split(block.text, "en")]
        assert " ".join(sentences) == block.text
        assert all(sentence.endswith(".") for sentence in sentences)


def test_links_keep_their_words_when_blanks_go() -> None:
    text = "See  the\n\u00ad lamp  now."
    words, places = cleaned(text)
    assert words == "See the lamp now."
    start = text.index("lamp")
    assert words[places[start] : places[start + 4]] == "lamp"


def test_levels_begin_at_the_main_section_and_empty_headings_go() -> None:
    blocks = [
        Block("heading", "Title", 1),
        Block("heading", "Nothing here", 3),
        Block("heading", "Part", 3),
        Block("heading", "Chapter", 5),
        Block("paragraph", "Text."),
    ]
    sections, paragraphs, _, n_left_out = sections_of(DocumentText("title", blocks), "title")
    assert sections == [(0, ""), (2, "Part"), (3, "Chapter")]
    assert paragraphs == [(2, "paragraph", "Text.", [])]
    assert n_left_out == len("Nothinghere")


CHAPTER = (
    f"## The Slice Type\n\n{FIRST}\n\n### Other Slices\n\n{SECOND}\n\n## Summary\n\n{SECOND}\n"
)
PAGE_OF_BOOK = (
    "<html><title>Methods - The Book</title><body><div><h1>The Book</h1></div>"
    "<main>{}</main></body>"
)


def test_a_document_is_called_by_the_heading_it_begins_with(tmp_path: Path) -> None:
    chapter = making.write(tmp_path / "ch04-03-slices.md", CHAPTER)
    parts = f"<h2>Methods</h2><p>{FIRST}</p><h2>Summary</h2><p>{SECOND}</p>"
    page = making.write(tmp_path / "ch05.html", PAGE_OF_BOOK.format(parts))
    story = [("Heading 2", "Methods"), ("Normal", FIRST), ("Heading 2", "End"), ("Normal", SECOND)]
    file = making.docx(tmp_path / "a.docx", story, title="Template 7")
    read = [found(path) for path in (chapter, page, file)]
    assert [each.title for each in read] == ["The Slice Type", "Methods", "Methods"]
    sections, *_ = sections_of(read[0].text, read[0].title)
    assert sections == [(0, ""), (2, "The Slice Type"), (3, "Other Slices"), (2, "Summary")]


@pytest.mark.parametrize(
    ("parts", "title"),
    [
        ("<p>By Ada.</p><h1>Methods</h1><p>Text.</p>", "Methods"),
        ("<h1>One</h1><p>Text.</p><h1>Two</h1><p>Text.</p>", "One"),
        ("<p>Text.</p><h2>One</h2><p>Text.</p>", "Methods - The Book"),
    ],
)
def test_a_page_is_called_by_its_title_only_without_such_a_heading(parts: str, title: str) -> None:
    assert read_web_page(PAGE_OF_BOOK.format(parts)).title == title


@pytest.mark.data
def test_real_pages_are_cut_into_sections_without_marks_of_notes(data: Path) -> None:
    lines = (data / "wiki/html/wme_articles.ndjson").read_text("utf-8").splitlines()
    pages = [orjson.loads(line)["article_body"]["html"] for line in lines]
    for html in pages:
        read = read_web_page(html)
        assert list(read.notes) == []
        assert not any("[1]" in block.text for block in read.blocks)
    headings = {block.text for block in read_web_page(max(pages, key=len)).blocks if block.level}
    assert {"Etymology", "Characteristics", "Behavior"} <= headings
