"""Compares the words of a file, as another library reads it, with those that are stored of it.

What is missing must have been counted by a rule that left it out. Prints, for files and folders,
what each rule has left out of each format, and which files lose more than that:

    python -m collector.ingest.documents.tests.round_trip FOLDER …
"""

import csv
import html
import io
import itertools
import json
import re
import sys
import unicodedata
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from collector.ingest.documents.blocks import sections_of
from collector.ingest.documents.files import find_files
from collector.ingest.documents.formats.web_page import decoded_page
from collector.ingest.documents.reading import FoundDocument, read_files

WORD = re.compile(r"[^\W_]+")
# What is no text of a page (in XPath), and of a docx.
UNSEEN_HTML = "//head|//script|//style|//template"
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
UNSEEN_DOCX = (f"{W}del", f"{W}moveFrom", FALLBACK)
INLINE = set(
    "a abbr b bdi bdo big cite code del dfn em font i ins kbd label mark q s samp small span "
    "strike strong sub sup tt u var wbr".split()
)
# What Markdown writes that is no word of its text: pictures, addresses, labels of links, languages
# of code, numbers of items, references to notes, elements and signs of HTML.
NO_WORDS_OF_MARKDOWN = re.compile(
    r"!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])|(?<=\])\((?:[^()]|\([^()]*\))*\)|^\s*\[[^\]]+\]:[^\n]*"
    r"|(?<=\])\[[^\]]*\]|^[ \t>]*(?:```|~~~)[^\n]*|^[ \t>]*\d+[.)](?=\s)|\[\^[^\]]+\]"
    r"|<!--.*?-->|</?[A-Za-z][^>]*>|&#?\w+;",
    re.M | re.S,
)
# What may stand inside a word.
MARKS_OF_MARKDOWN = re.compile(r"[`*\[\]]|\\(?=[^\w\s])")


@dataclass(frozen=True)
class Trip:
    """What became of a document: sizes in characters, blanks not counted.

    `lost`: of words that the source has and the stored text has not; `added`: the other way round;
    `unexplained`: what no rule has counted of the lost ones, as a share of the source.
    """

    of_source: int
    lost: Counter[str]
    added: Counter[str]
    left_out: Mapping[str, int]

    @property
    def unexplained(self) -> float:
        """Return what no rule has counted of what is lost, as a share of the source."""
        missing = _letters(self.lost) - sum(self.left_out.values())
        return max(0, missing) / max(1, self.of_source)


def trip(source: str, whole: str, found: FoundDocument) -> Trip:
    """Return what became of the words of a source; `whole`: with what its format writes beside."""
    sections, paragraphs, _, of_headings = sections_of(found.text, found.title)
    stored = [heading for _, heading in sections] + [text for _, _, text, _ in paragraphs]
    # A document without a title is called by its file's name.
    if found.text.title not in stored:
        stored.append(found.text.title)
    ours, theirs, written = (
        Counter(WORD.findall(each.replace("\N{SOFT HYPHEN}", "")))
        for each in ("\n".join(stored), source, whole)
    )
    left_out = {**found.text.left_out, "headings without text": of_headings}
    return Trip(_letters(theirs), theirs - ours, ours - written, left_out)


def _letters(words: Counter[str]) -> int:
    return sum(len(word) * number for word, number in words.items())


def trips(path: Path, found: Sequence[FoundDocument]) -> list[Trip]:
    """Return what became of each document of a file, as another library than ours reads it."""
    texts = _SOURCES[found[0].format](path)
    return [trip(*text, each) for text, each in zip(texts, found, strict=True)]


def _plain(path: Path) -> list[tuple[str, str]]:
    content = path.read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1252", "replace")
    return [(text, text)]


def _markdown(path: Path) -> list[tuple[str, str]]:
    ((text, _),) = _plain(path)
    words = MARKS_OF_MARKDOWN.sub("", NO_WORDS_OF_MARKDOWN.sub(_blank, text))
    written = re.sub(r"(?<=\])\[[^\]]*\]", "", text)
    return [(words, f"{words}\n{MARKS_OF_MARKDOWN.sub('', written)}\n{html.unescape(text)}")]


def _blank(found: re.Match[str]) -> str:
    # Letters may follow a link at once.
    return "" if found[0][0] in "[(" else " "


def _web_page(path: Path) -> list[tuple[str, str]]:
    import lxml.etree
    import lxml.html

    parser = lxml.html.HTMLParser(encoding="utf-8")
    text = decoded_page(path, path.name)
    tree = lxml.html.document_fromstring(text.encode("utf-8", "replace"), parser)
    title = " ".join(tree.xpath("//title//text()"))
    for part in tree.xpath(UNSEEN_HTML):
        part.drop_tree()
    pieces: list[str] = []
    for event, element in lxml.etree.iterwalk(tree, events=("start", "end", "comment", "pi")):
        if event in ("start", "end"):
            text = (element.text if event == "start" else element.tail) or ""
            pieces += ["" if element.tag in INLINE else " ", text]
        else:
            pieces.append(element.tail or "")
    return [("".join(pieces), "".join([*pieces, " ", title]))]


def _pdf(path: Path) -> list[tuple[str, str]]:
    from pdfminer.high_level import extract_text

    text = unicodedata.normalize("NFKC", extract_text(path))
    # A word parted at the end of a line is whole in what is stored.
    whole = re.sub(r"[-\N{HYPHEN}\N{SOFT HYPHEN}]\n", "", text)
    return [(text, f"{text}\n{whole}")]


def _word_file(path: Path) -> list[tuple[str, str]]:
    import lxml.etree

    with zipfile.ZipFile(path) as archive:
        tree = lxml.etree.fromstring(archive.read("word/document.xml"))
    for part in list(tree.iter(*UNSEEN_DOCX)):
        part.getparent().remove(part)
    blanks = [f"{W}{tag}" for tag in ("p", "tab", "br", "cr")]
    # What a text box says comes after the paragraph that it stands in.
    boxes = list(tree.iter(f"{W}txbxContent"))
    for box in reversed(boxes):
        box.getparent().remove(box)
    pieces = []
    for node in itertools.chain(tree.iter(), *(box.iter() for box in boxes)):
        if node.tag == f"{W}t":
            pieces.append(node.text or "")
        elif node.tag in blanks:
            pieces.append(" ")
        elif node.tag == f"{W}noBreakHyphen":
            pieces.append("-")
    return [("".join(pieces),) * 2]


def _json_lines(path: Path) -> list[tuple[str, str]]:
    lines = path.read_text("utf-8-sig").split("\n")
    return [(json.loads(line)["text"],) * 2 for line in lines if line.strip()]


def _table(path: Path) -> list[tuple[str, str]]:
    rows = csv.DictReader(io.StringIO(path.read_text("utf-8-sig"), newline=""))
    return [(row["text"],) * 2 for row in rows]


_SOURCES = {
    "txt": _plain,
    "md": _markdown,
    "html": _web_page,
    "pdf": _pdf,
    "docx": _word_file,
    "jsonl": _json_lines,
    "csv": _table,
}
"""By format: (words, what the file writes beside them too) of each document."""


def main(paths: Iterable[str]) -> None:
    """Print what each rule has left out of each format, and which files lose more than that."""
    by_format: dict[str, Counter[str]] = defaultdict(Counter)
    files, _ = find_files(map(Path, paths))
    for file, read in zip(files, read_files(files, 1, {}), strict=True):
        told = by_format[file.format]
        found = [each for each in read if isinstance(each, FoundDocument)]
        told["documents"] += len(found)
        told["not read"] += len(read) - len(found)
        if not found:
            continue
        for made in trips(file.path, found):
            told["characters"] += made.of_source
            told.update({rule: number for rule, number in made.left_out.items() if number})
            told["UNEXPLAINED"] += round(made.unexplained * made.of_source)
            told["ADDED"] += _letters(made.added)
            if made.unexplained > 0.01 or _letters(made.added) > 0.01 * made.of_source:
                told["documents above 1 %"] += 1
                shares = f"{made.unexplained:.1%} unexplained, {_letters(made.added)} added"
                print(file.path, shares, list(made.lost)[:9], list(made.added)[:9], sep="\n  ")
    for format_, told in sorted(by_format.items()):
        print(format_, ", ".join(f"{what} {number:,}" for what, number in told.items()), sep=": ")


if __name__ == "__main__":
    main(sys.argv[1:])
