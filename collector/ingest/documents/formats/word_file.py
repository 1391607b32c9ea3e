"""Reads Word's docx files: headings by their styles, paragraphs, items of lists; no tables."""

import re
import zipfile
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import Any

from collector.ingest.documents.blocks import (
    HEADING,
    MAX_TITLE,
    Block,
    DocumentText,
    clean,
    said_left_out,
    size,
    title_from,
)
from collector.ingest.documents.catalogue import DocumentFormat
from collector.ingest.documents.files import check_members, damage_told
from collector.ingest.lines import LIST_ITEM, PARAGRAPH
from collector.ingest.raised import lowered, raised

_HEADING = re.compile(r"heading (\d)", re.I)
# Paragraphs that repeat or accompany the text.
_APART = re.compile(r"toc \d|caption|footnote text|endnote text|header|footer", re.I)
_BLANKS = ("tab", "br", "cr")
# What was deleted or moved away, and what older programs show in place of a text box.
_NOT_SAID = ("del", "moveFrom", "Fallback")
_TEXT_BOX = "txbxContent"
_STORED_APART = {
    "footnotes": "notes",
    "endnotes": "notes",
    "comments": "comments",
    "header": "headers and footers",
    "footer": "headers and footers",
}
_NAMES = {"w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main"}
_W = f"{{{_NAMES['w']}}}"
# The property of a run, and the parts of a formula, that are raised or lowered.
_RAISED, _LOWERED = {"superscript", "sup"}, {"subscript", "sub"}


class WordFile(DocumentFormat):
    """Word's docx."""

    name = help = "docx"
    label = "Word (docx)"
    extensions = ("docx",)
    rank = 5
    begins_with = (b"PK\x03\x04", "a docx or zip", ".docx or .zip")
    needs = ("docx",)

    def read(self, path: Path, name: str) -> DocumentText:
        """Return the document in a docx; raises DocumentError for another or a damaged file."""
        why = f"{name} is no docx by what it holds: give it its right ending, or save it as docx."
        with damage_told(why), zipfile.ZipFile(path) as archive:
            members = archive.infolist()
        check_members(members, name)
        return read_word_file(path, name)


def read_word_file(path: Path, name: str) -> DocumentText:
    """Return the document that a docx file holds; raises DocumentError for a damaged one.

    Notes, headers and footers are stored apart from the text, and stay there. Hidden text is left
    out; what stands in text boxes comes after the paragraph that these hang on.
    """
    left_out = Counter[str]()
    from docx import Document
    from docx.opc.exceptions import PackageNotFoundError
    from docx.oxml import parse_xml
    from lxml.etree import XMLSyntaxError

    # The library supposes of damaged XML what it does not hold.
    supposed = (LookupError, TypeError, AttributeError)
    why = f"{name} is damaged, or no docx."
    with damage_told(why, PackageNotFoundError, XMLSyntaxError, *supposed):
        document = Document(str(path))
        parts = list(_parts(document.element.body))
        blocks = list(_blocks(document, parts, left_out))
        notes = said_left_out("table", sum(_tag(each) == "tbl" for each in parts))
        for relation in document.part.rels.values():
            rule = _STORED_APART.get(relation.reltype.rpartition("/")[2])
            if rule and not relation.is_external:
                part = parse_xml(relation.target_part.blob)
                left_out[rule] += size(*_said(part))
        told = clean(document.core_properties.title or "")
        language = document.core_properties.language or ""
    title = title_from(blocks) or told[:MAX_TITLE]
    return DocumentText(title, blocks, language, notes=notes, left_out=+left_out)


def _tag(node: Any) -> str:
    return str(node.tag).rpartition("}")[2]


def _parts(parent: Any) -> Iterator[Any]:
    """Yield the paragraphs and tables under an element, also those inside content controls."""
    for node in parent:
        tag = _tag(node)
        if tag in ("p", "tbl"):
            yield node
        elif tag not in _NOT_SAID:
            yield from _parts(node)
        if tag == "p":
            for box in _text_boxes(node):
                yield from _parts(box)


def _text_boxes(parent: Any) -> Iterator[Any]:
    for node in parent:
        if _tag(node) == _TEXT_BOX:
            yield node
        elif _tag(node) not in _NOT_SAID:
            yield from _text_boxes(node)


def _blocks(document: Any, parts: Iterable[Any], left_out: Counter[str]) -> Iterator[Block]:
    """Yield the paragraphs and headings; add how much is left out."""
    from docx.text.paragraph import Paragraph

    hidden = _hidden_styles(document.styles.element)
    for each in parts:
        if _tag(each) == "tbl":
            left_out["tables"] += size(*_said(each))
            continue
        is_hidden = _named(each, "w:pPr/w:pStyle") in hidden
        text = clean("".join(_said(each, hidden, is_hidden)))
        left_out["hidden text"] += size(*_said(each)) - size(text)
        part = Paragraph(each, document._body)
        style = (part.style.name if part.style else "") or ""
        if not any(map(str.isalnum, text)):
            continue
        if _APART.match(style):
            left_out["captions and contents"] += size(text)
            continue
        heading = _HEADING.match(style)
        if heading or style == "Title":
            yield Block(HEADING, text, int(heading[1]) + 1 if heading else 1)
        else:
            is_item = style.startswith("List") or (each.pPr is not None and each.pPr.numPr)
            yield Block(LIST_ITEM if is_item else PARAGRAPH, text)


def _said(
    parent: Any, hidden: Container[str] | None = None, is_hidden: bool = False
) -> Iterator[str]:
    """Yield what an element says, also in links, fields and inserted passages.

    hidden: the styles that hide text, or None to yield what is hidden too. is_hidden: whether runs
    are, of which neither they themselves nor their styles say otherwise.
    """
    for node in parent:
        tag = _tag(node)
        if tag in (*_NOT_SAID, _TEXT_BOX):
            continue
        if tag == "r" and hidden is not None:
            says_so = _hides(node)
            of_style = is_hidden or _named(node, "w:rPr/w:rStyle") in hidden
            if says_so or (says_so is None and of_style):
                continue
        if tag == "t":
            yield _written(node)
        elif tag == "noBreakHyphen":
            yield "-"
        elif tag in _BLANKS:
            yield " "
        else:
            yield from _said(node, hidden, is_hidden)


def _hidden_styles(styles: Any) -> set[str]:
    """Return the ids of styles that hide text, by themselves or by what they are based on."""
    found = {style.get(f"{_W}styleId"): style for style in styles.findall("w:style", _NAMES)}
    hidden = set()
    for name, style in found.items():
        # A damaged file may base a style on itself.
        seen = set[str]()
        while _hides(style) is None and (base := _named(style, "w:basedOn")) in found:
            if base in seen:
                break
            seen.add(base)
            style = found[base]
        if _hides(style):
            hidden.add(name)
    return hidden


def _hides(element: Any) -> bool | None:
    """Return whether the element's own properties hide its text; None where they do not say."""
    found = element.find("w:rPr/w:vanish", _NAMES)
    return None if found is None else found.get(f"{_W}val") not in ("0", "false", "off")


def _named(element: Any, path: str) -> str:
    """Return the value of a property, blank where there is none."""
    found = element.find(path, _NAMES)
    return "" if found is None else found.get(f"{_W}val") or ""


def _written(text: Any) -> str:
    """Return what a text says, its numbers written raised or lowered if its run is, or formula."""
    run = text.getparent()
    places = {value for each in run.iter("{*}vertAlign") for value in each.values()}
    places.add(str(run.getparent().tag).rpartition("}")[2])
    words = text.text or ""
    if places & _RAISED:
        return raised(words)
    return lowered(words) if places & _LOWERED else words
