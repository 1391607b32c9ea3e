"""Real pages, documents and books, changed at random; and what is wrong in the rows of a corpus."""

import csv
import io
import json
import random
import zipfile
from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise
from pathlib import Path

from collector.ingest.books.parsing import trimmed
from collector.ingest.books.tests.making import table
from collector.ingest.decoding import decode
from collector.ingest.documents.blocks import clean
from collector.ingest.documents.tests import making
from collector.ingest.segmentation import split, tokens
from collector.models import Corpus, Paragraph
from collector.models.corpus import CorpusKind

N_BOOKS = 3
# How many letters are kept of both ends of a book, with the licence that stands there.
BOOK_START, BOOK_END = 15_000, 25_000
TABLES = ("documents.csv", "qaps.csv", "summaries.csv")
# What formats give a meaning to, and letters that are easily counted wrongly.
PIECES = [
    each.encode()
    for each in (
        *("<a href='0.txt'>", "</a>", "<p>", "</p>", "<h2>", "</h2>", "<li>", "<pre>", "</pre>"),
        *("<table><tr><td>", "</table>", "<div hidden>", "<form>", "<sup>2</sup>", "<!--", "-->"),
        *("&#0;", "&nbsp;", "&amp", "<w:t>", "</w:p>", "<w:tab/>", "[0](0.txt)", "![", "**", "`"),
        *("\n\n", "\n", "\r", "\t", "\n---\n\n", "\n# ", "\n* ", "\n1. ", "[1] ", "```\n", " | "),
        *('"', '",', "\\", "\\u0000", "[[0, 9, 1]]", "{", "}", ",", ";", "9" * 40, "BT", "endobj"),
        *("\n\nCHAPTER ", "\n\nPART ", "I\n\n", "Twenty-", "\n\nContents\n", "[EBook #", "]\n"),
        *("*** START OF THIS PROJECT GUTENBERG EBOOK ***\n", "End of Project Gutenberg's ", "ı"),
        *("\x00", "\u00ad", "\u200f", "\u202e", "\ufeff", "İ", "ﬁ", "e\u0301", "𝔸", "語", "ש"),
    )
]
WIKITEXT = (
    *("[[", "]]", "|", "{{", "}}", "{|", "|}", "|-", "==", "'''", "<ref>", "</ref>", "<nowiki>"),
    *("<!--", "&nbsp;", "[[File:", "[[0|", "{{convert|6|ft|", "<math>", "\n*", "\n\n", "\u200f"),
)


def originals(data: Path, folder: Path) -> dict[str, list[bytes]]:
    """Return, by format, documents of chapters of real books, which lead to one another."""
    found: dict[str, list[bytes]] = {}
    for number, book in enumerate(sorted((data / "books").glob("*.txt"))[:N_BOOKS]):
        parts = map(clean, book.read_text("utf-8").split("\n\n")[40:60])
        texts = [part for part in parts if part]
        title, text = f"Part {number}", "\n\n".join(texts)
        row = {"id": f"row {number}", "title": title, "text": text, "links": [[0, 4, "row 0"]]}
        table = io.StringIO()
        writer = csv.DictWriter(table, list(row))
        writer.writeheader()
        writer.writerow({**row, "links": json.dumps(row["links"])})
        body = "".join(f"<h2>{at}</h2><p>{escape(each)}</p>" for at, each in enumerate(texts))
        written = {
            "txt": f"{title}\n\n{text}",
            "md": f"# {title}\n\n[The first](0.txt). {text}",
            "html": f"<!doctype html><title>{title}</title><a href='0.txt'>{title}</a>{body}",
            "jsonl": f"{json.dumps(row)}\n",
            "csv": table.getvalue(),
        }
        for kind, content in written.items():
            found.setdefault(kind, []).append(content.encode())
        story = [("Title", title), *(("BodyText", escape(each)) for each in texts)]
        page = making.pdf(folder / "original.pdf", story, packed=False)
        found.setdefault("pdf", []).append(page.read_bytes())
        story = [("Title", title), *(("Normal", each) for each in texts)]
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"packed {number}.txt", written["txt"])
        found.setdefault("zip", []).append(packed.getvalue())
        found.setdefault("docx", []).append(
            making.docx(folder / "original.docx", story).read_bytes()
        )
    return found


def books(data: Path, folder: Path) -> dict[str, list[bytes]]:
    """Return, by format, real books without their middle, and the tables of them.

    The tables and the last book are in the folder, too.
    """
    kept: dict[str, list[bytes]] = {"txt": [], "html": []}
    paths = sorted((data / "books").glob("*.txt"))[:N_BOOKS]
    for path in paths:
        whole = path.read_text("utf-8")
        text = f"{whole[:BOOK_START]}\n\n{whole[-BOOK_END:]}"
        parts = "".join(f"<p>{escape(each)}</p>" for each in text.split("\n\n"))
        screenplay = f"<html><a href='/'>More</a><pre>{escape(text)}</pre>"
        kept["txt"] += [text.encode(), text.replace("\n", "\r\n").encode("cp1252", "replace")]
        kept["html"] += [f"<!doctype html><body>{parts}".encode(), screenplay.encode()]
        making.write(folder / "original.txt", text)
    lines = (data / "replay" / "narrativeqa_books.jsonl").read_bytes().splitlines()
    rows = [row for row in map(json.loads, lines) if row["book"] in {each.stem for each in paths}]
    names = {row["document_id"]: row["summary_tokens"] for row in rows}
    with (data / "replay" / "narrativeqa_documents.csv").open(encoding="utf-8", newline="") as file:
        documents = [row for row in csv.DictReader(file) if row["document_id"] in names]
    pairs = [
        {
            "document_id": row["document_id"],
            "question": row["question_tokens"],
            "answer1": row["answers_tokens"][0],
            "answer2": row["answers_tokens"][-1],
        }
        for row in rows
    ]
    summaries = [{"document_id": name, "summary": text} for name, text in names.items()]
    told = zip(TABLES, (documents, pairs, summaries), strict=True)
    kept["csv"] = [table(folder / name, *rows).read_bytes() for name, rows in told]
    return kept


def write_changed(
    folder: Path, kept: dict[str, list[bytes]], number: int, rng: random.Random
) -> list[str]:
    """Write so many changed files, each of a format by turns; return their names."""
    names = []
    for at in range(number):
        kind = sorted(kept)[at % len(kept)]
        content, other = rng.choice(kept[kind]), rng.choice(kept[rng.choice(sorted(kept))])
        names.append(f"{at}.{kind}")
        if kind == "docx" and rng.random() < 0.9:
            content = _with_changed_members(content, other, rng)
        elif at >= len(kept):
            content = changed(content, other, rng)
        making.write(folder / names[-1], content)
    return names


def changed(content: bytes, other: bytes, rng: random.Random) -> bytes:
    """Return bytes with some left out, doubled, taken from elsewhere or put in; mostly few."""
    for _ in range(rng.choice((1, 1, 2, 5, 30))):
        start, there = rng.randrange(len(content) + 1), rng.randrange(len(other))
        end = start + rng.choice((0, 0, 1, 2, 20, 2000))
        piece = rng.choice(
            (
                b"",
                rng.choice(PIECES),
                rng.choice(PIECES) * rng.choice((2, 300)),
                b"".join(rng.choices(PIECES, k=4)),
                content[start:end] * 2,
                other[there : there + rng.choice((4, 400))],
            )
        )
        content = content[:start] + piece + content[end:]
    return content if rng.random() < 0.95 else content + bytes([rng.randrange(128, 256)])


def changed_pages(texts: Sequence[str], rng: random.Random) -> Iterator[str]:
    """Yield pages' wikitext with marks left out, doubled and put in."""
    for text in texts:
        for _ in range(rng.choice((1, 3, 30))):
            start = rng.randrange(len(text) + 1)
            end = start + rng.choice((0, 0, 1, 2, 50))
            piece = rng.choice(("", rng.choice(WIKITEXT), rng.choice(WIKITEXT) * 50))
            text = text[:start] + piece + text[end:]
        yield text


def _with_changed_members(content: bytes, other: bytes, rng: random.Random) -> bytes:
    """Return an archive with some changed, for what is packed is never reached by its bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as before, zipfile.ZipFile(out, "w") as after:
        for member in before.infolist():
            inside = before.read(member)
            if member.filename.endswith("document.xml") or rng.random() < 0.05:
                inside = changed(inside, other, rng)
            after.writestr(member.filename, inside)
    return out.getvalue()


def wrong_in(corpus: Corpus) -> Iterator[str]:
    """Yield a sentence for each paragraph with an offset, a link or a letter that is wrong."""
    is_of_documents = corpus.kind == CorpusKind.DOCUMENTS
    titles = set(corpus.articles.values_list("title", flat=True))
    rows = Paragraph.objects.filter(article__corpus=corpus).order_by("article_id", "position")
    for row in rows.select_related("article"):
        text, where = row.text, f"{row.article.title}, {row.position}"
        # A thin space that an author has set stays as it is.
        kept = text.replace("\N{THIN SPACE}", " ")
        if not text or kept != " ".join(kept.split()):
            yield f"{where}: {text[:60]!r} is not one line"
        if not _follow(0, row.links, len(text)):
            yield f"{where}: links {row.links} in {len(text)} letters"
        if is_of_documents and not {target for _, _, target in row.links} <= titles:
            yield f"{where}: links {row.links} to no document"
        begins = [start for start, _ in row.pages or ()]
        if any(start > len(text) or (start < 0) for start in begins) or begins != sorted(begins):
            yield f"{where}: pages {row.pages} in {len(text)} letters"
        if not _follow(0, split(text, corpus.language), len(text)):
            yield f"{where}: sentences lie over one another"


def wrong_in_books(corpus: Corpus, content: bytes) -> Iterator[str]:
    """Yield a sentence for each offset and text of a corpus's book that is wrong."""
    book = corpus.books.get()
    passages = list(book.passages.values_list("start", "end", "n_tokens"))
    chapters = list(book.chapters.values_list("start", "end", "heading"))
    if book.front + book.text + book.back != decode(content, "").text:
        yield "its three parts are not the whole"
    if not book.text or trimmed(book.text, 0, len(book.text)) != (0, len(book.text)):
        yield "blanks stand around it"
    if not _follow(0, passages, len(book.text)) or not _follow(0, chapters, len(book.text)):
        yield f"passages {passages} or chapters {chapters} in {len(book.text)} letters"
    places = tokens(book.text, corpus.language)
    if [start for start, _, _ in passages] != [
        start for start, _ in places[:: book.passage_tokens]
    ]:
        yield "its passages begin elsewhere"
    if sum(number for _, _, number in passages) != len(places):
        yield "its passages have other tokens"
    texts = [book.text[start:end] for start, end, _ in passages]
    if "".join(book.text.split()) != "".join("".join(texts).split()):
        yield "its passages are not its text"
    if not all(
        heading.strip() and heading == " ".join(heading.split()) for _, _, heading in chapters
    ):
        yield f"headings of {chapters}"


def _follow(start: int, places: Sequence[Sequence[object]], end: int) -> bool:
    """Return whether half-open places hold something each, and lie one after the other."""
    edges = [start, *(edge for place in places for edge in place[:2]), end]
    return all(one <= other for one, other in pairwise(edges)) and all(  # type: ignore[operator]
        place[0] < place[1]  # type: ignore[operator]
        for place in places
    )
