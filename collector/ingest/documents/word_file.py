"""Reads Word's docx files: headings by their styles, paragraphs, items of lists; no tables."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from collector.ingest.documents.blocks import (
    HEADING,
    MAX_TITLE,
    Block,
    DocumentText,
    clean,
    said_left_out,
    title_from,
)
from collector.ingest.errors import DocumentError
from collector.ingest.lines import LIST_ITEM, PARAGRAPH

_HEADING = re.compile(r"heading (\d)", re.I)
# Paragraphs that repeat or accompany the text.
_APART = re.compile(r"toc \d|caption|footnote text|endnote text|header|footer", re.I)
_BLANKS = ("tab", "br", "cr")


def read_word_file(path: Path, name: str) -> DocumentText:
    """Return the document that a docx file holds; raises DocumentError for a damaged one.

    Notes, headers and footers are stored apart from the text, and stay there.
    """
    from docx import Document
    from docx.opc.exceptions import PackageNotFoundError
    from lxml.etree import XMLSyntaxError

    try:
        document = Document(str(path))
        blocks = list(_blocks(document))
        notes = said_left_out("table", len(document.tables))
        told = clean(document.core_properties.title or "")
        language = document.core_properties.language or ""
    except (PackageNotFoundError, BadZipFile, XMLSyntaxError, KeyError, ValueError) as error:
        raise DocumentError(f"{name} is damaged, or no docx.") from error
    return DocumentText(title_from(blocks) or told[:MAX_TITLE], blocks, language, notes=notes)


def _blocks(document: Any) -> Iterator[Block]:
    from docx.text.paragraph import Paragraph

    for part in document.iter_inner_content():
        if not isinstance(part, Paragraph):
            continue
        text = clean(_text(part))
        style = (part.style.name if part.style else "") or ""
        if not any(map(str.isalnum, text)) or _APART.match(style):
            continue
        heading = _HEADING.match(style)
        if heading or style == "Title":
            yield Block(HEADING, text, int(heading[1]) + 1 if heading else 1)
        else:
            is_item = style.startswith("List") or (part._p.pPr is not None and part._p.pPr.numPr)
            yield Block(LIST_ITEM if is_item else PARAGRAPH, text)


def _text(paragraph: Any) -> str:
    """Return what a paragraph says, also in links, fields and inserted passages."""
    pieces = []
    for node in paragraph._p.iter():
        tag = node.tag.rpartition("}")[2] if isinstance(node.tag, str) else ""
        if tag == "t":
            pieces.append(node.text or "")
        elif tag == "noBreakHyphen":
            pieces.append("-")
        elif tag in _BLANKS:
            pieces.append(" ")
    return "".join(pieces)
