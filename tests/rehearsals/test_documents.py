"""Fifty PDFs and pages in HTML, set in many ways, are read word for word, sentence by sentence.

They are made of twenty books' paragraphs by a browser and by reportlab, beside a wiki's real pages.
"""

import html
import os
import random
import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain, pairwise
from pathlib import Path

import orjson

from collector.ingest.documents.blocks import DocumentText, clean
from collector.ingest.documents.formats.pdf import read_pdf
from collector.ingest.documents.formats.web_page import read_web_page
from collector.ingest.documents.tests import making
from collector.ingest.segmentation import split
from tests import services

N_PRINTED, N_SET, N_PAGES = 24, 11, 12
STYLES = (
    "body {font: 11pt/1.4 serif; text-align: justify}",
    "body {font: 10pt/1.3 sans-serif} main {columns: 2}",
    "body {font: 12pt/1.5 serif} p {text-indent: 2em; margin: 0}",
    "body {font: 11pt/1.35 serif; text-align: justify; hyphens: auto} main {columns: 2}",
)
Read = tuple[str, DocumentText, list[str]]
"""A document's name, what was read of it, and the paragraphs that were written into it."""
NOTE = "A note of the editor, set small, that belongs to no sentence of the text above it."


def paragraphs(data: Path) -> Iterator[str]:
    """Yield paragraphs of books, shuffled, with marks of typewriters left out."""
    found = []
    for book in sorted((data / "books").glob("*.txt")):
        parts = book.read_text("utf-8").split("\n\n")[40:400]
        found += [clean(part) for part in parts if 300 < len(part) < 1200]
    kept = [text for text in found if not re.search(r"[_*|<>\[\]{}&~]|  |--|^\W*\d|^\W*-", text)]
    random.Random(7).shuffle(kept)
    yield from kept


def page_of(title: str, texts: list[str], style: str) -> str:
    """Return a page with two sections, a table, a note and a mark of it."""
    first, *rest = (html.escape(text, quote=False) for text in texts)
    marked = f"{first}<sup><a href='#n'>1</a></sup>"
    return (
        f"<!doctype html><html lang=en><title>{title}</title><style>{style} "
        "td {border: 1px solid; padding: 2pt 8pt} table {border-collapse: collapse} "
        "sup {font-size: 60%} .footnotes {font-size: 8pt; column-span: all}</style>"
        f"<main><h1>{title}</h1><h2>The first part</h2><p>{marked}</p><p>{rest[0]}</p>"
        "<table><tr><td>year<td>keeper</tr><tr><td>1871<td>Ada</tr></table>"
        f"<h2>The second part</h2>{''.join(f'<p>{text}</p>' for text in rest[1:])}"
        f"<div class=footnotes id=n><sup>1</sup> {NOTE}</div></main>"
    )


def wrong(read: DocumentText, texts: list[str]) -> list[str]:
    """Return paragraphs that were read and not written, or the other way round.

    Where a page ends with a sentence nobody sees whether a paragraph goes on: it may end there.
    """
    found = [_bare(block.text) for block in read.blocks if block.kind != "heading"]
    written = [_bare(text) for text in texts]
    if " ".join(found) == " ".join(written):
        return []
    return [*(Counter(found) - Counter(written)), *(Counter(written) - Counter(found)), "order"]


def n_cut(read: DocumentText, texts: list[str]) -> int:
    """Return how many paragraphs end where a page does and they do not."""
    return sum(block.kind != "heading" for block in read.blocks) - len(texts)


def _bare(text: str) -> str:
    """Return a text without hyphens inside words: print does not tell which were written."""
    return re.sub(r"(?<=\w)-(?=\w)", "", text)


def n_hyphens_wrong(read: DocumentText, texts: list[str]) -> int:
    """Return how many hyphens at lines' ends were taken for what they were not."""
    found = sum(block.text.count("-") for block in read.blocks if block.kind != "heading")
    return abs(found - sum(text.count("-") for text in texts))


def n_exact(read: DocumentText) -> int:
    """Return how many sentences there are, each where its offsets say, with nothing between."""
    number = 0
    for block in read.blocks:
        places = split(block.text, "en")
        number += len(places)
        assert clean(" ".join(block.text[start:end] for start, end in places)) == block.text
        assert all(block.text[one[1] : two[0]].isspace() for one, two in pairwise(places))
    return number


def printed(folder: Path, source: Iterator[str]) -> Iterator[Read]:
    """Yield PDFs that a browser prints, in several styles, with running heads, some tagged."""
    from playwright.sync_api import sync_playwright

    path_of_browser = os.environ.get("COLLECTOR_CHROMIUM") or services.chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path_of_browser)
        page = browser.new_page()
        for number in range(N_PRINTED):
            texts = [next(source) for _ in range(9)]
            page.set_content(page_of(f"Printed {number}", texts, STYLES[number % len(STYLES)]))
            path = folder / f"printed-{number}.pdf"
            page.pdf(
                path=path,
                format="A4" if number % 2 else "Letter",
                tagged=number % 3 == 0,
                display_header_footer=True,
                header_template="<p style='font-size: 8px; margin: auto'>Annals of Quarn</p>",
                footer_template="<p style='font-size: 8px; margin: auto' class=pageNumber></p>",
                margin={"top": "70px", "bottom": "70px", "left": "60px", "right": "60px"},
            )
            yield path.name, read_pdf(path, path.name), texts
        browser.close()


def typeset(folder: Path, source: Iterator[str]) -> Iterator[Read]:
    """Yield PDFs that reportlab sets."""
    for number in range(N_SET):
        texts = [next(source) for _ in range(9)]
        story = [("BodyText", html.escape(text, quote=False)) for text in texts]
        path = folder / f"set-{number}.pdf"
        making.pdf(path, [("Title", f"Set {number}"), ("Heading1", "One"), *story], head="Annals")
        yield path.name, read_pdf(path, path.name), texts


def pages(data: Path, source: Iterator[str]) -> Iterator[Read]:
    """Yield pages of our own, and real ones, of which nobody has the text in another form."""
    for number in range(N_PAGES):
        texts = [next(source) for _ in range(9)]
        yield f"page-{number}", read_web_page(page_of(f"Page {number}", texts, "")), texts
    for line in (data / "wiki/html/wme_articles.ndjson").read_text("utf-8").splitlines():
        read = read_web_page(orjson.loads(line)["article_body"]["html"])
        assert not any("[1]" in block.text for block in read.blocks)
        yield "wiki", read, [block.text for block in read.blocks if block.kind != "heading"]


def test_fifty_documents_are_read_word_for_word(data: Path, tmp_path: Path) -> None:
    source = paragraphs(data)
    bad: dict[str, list[str]] = {}
    reported, n_sentences, n_documents, n_hyphens, n_cuts = [], 0, 0, 0, 0
    for name, read, texts in chain(
        printed(tmp_path, source), typeset(tmp_path, source), pages(data, source)
    ):
        n_documents += 1
        n_sentences += n_exact(read)
        n_hyphens += n_hyphens_wrong(read, texts)
        n_cuts += n_cut(read, texts)
        if read.notes:
            reported.append((name, list(read.notes)))
        elif odd := wrong(read, texts):
            bad[name] = odd
    print(f"{n_documents} documents, {n_sentences} sentences, {n_hyphens} hyphens wrong")
    print(f"{n_cuts} paragraphs cut at a page's end, reported: {reported}")
    for name, odd in bad.items():
        print(name, *(f"\n  {text}" for text in odd))
    assert n_documents == 50
    assert bad == {}
    assert n_hyphens < n_sentences / 100
    assert n_cuts < n_documents / 2
