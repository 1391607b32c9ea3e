"""Reads files into documents, several at once, in their order; each whole or not at all.

Nothing of Django's rows is loaded, so that several processes can read side by side.
"""

import hashlib
import logging
import re
import zipfile
from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePosixPath

from collector.ingest.decoding import decoded_text, known_encoding
from collector.ingest.documents.blocks import HEADING, MAX_TITLE, DocumentText, has_text
from collector.ingest.documents.files import DocumentFile, check_members, damage_told
from collector.ingest.documents.formats.plain_text import read_plain_text
from collector.ingest.documents.formats.rows import DocumentRow, csv_rows, json_rows
from collector.ingest.documents.formats.web_page import read_markdown, read_web_page
from collector.ingest.documents.language import language_of, load_identifier
from collector.ingest.errors import BookError, DocumentError
from collector.limited_process import (
    CPU_SECONDS_PER_MIB,
    Limits,
    PassedLimit,
    cpu_seconds,
    run_limited,
)
from collector.parallel import in_processes

log = logging.getLogger(__name__)

_DECLARED = re.compile(rb"<(?:meta|\?xml)[^>]*?(?:charset|encoding)=[\"']?([\w.:-]+)", re.I)
_MARKUP = re.compile(r"\s*(?:<!doctype html|<html[\s>])", re.I)
_HEAD_BYTES = 2048
# What files of other formats begin with.
_OTHERS = {b"%PDF": ("a PDF", ".pdf"), b"PK\x03\x04": ("a docx or zip", ".docx or .zip")}
_WRONG = "\N{REPLACEMENT CHARACTER}"

# ours: pages of a PDF are small, and read by two libraries.
CPU_SECONDS_PER_MIB_OF_PDF = 300
# What reads a format, beside what is imported here; long to load, and then there for all children.
_MODULES = {
    "pdf": ("pdfplumber", "pypdfium2", "collector.ingest.documents.formats.pdf"),
    "docx": ("docx",),
    "html": ("lxml.html", "selectolax.lexbor"),
    "md": ("lxml.html", "selectolax.lexbor", "markdown_it"),
}
WHAT_TO_DO = "Give it as a simpler file, in parts, or as plain text."


@dataclass(frozen=True)
class FoundDocument:
    """A document that was read, ready to be stored. `language`: as told apart, or as declared."""

    external_id: str
    title: str
    format: str
    file_name: str
    sha256: str
    text: DocumentText
    language: str
    url: str = ""
    licence: str = ""


@dataclass(frozen=True)
class LeftOut:
    """What is not imported; `why` is one line that names it."""

    why: str


Read = list[FoundDocument | LeftOut]


def read_files(
    files: Sequence[DocumentFile], processes: int, known: dict[str, str]
) -> Iterator[Read]:
    """Yield what each file holds, in order, whatever the number of processes.

    Each is read in a child of its own with limits; what passes them is left out. `known`: by the
    name of a file, the checksum it was last read with; such a file is not read again, and yields
    nothing. Raises DocumentError when a process dies.
    """
    work = ((file, known.get(file.name, "")) for file in files)
    try:
        yield from in_processes(max(1, processes), _read, work)
    except BrokenProcessPool as error:
        raise DocumentError(
            "a process that reads documents ended, perhaps for lack of memory; run the same "
            "command with fewer --processes."
        ) from error


def _read(work: tuple[DocumentFile, str]) -> Read:
    file, known = work
    try:
        with file.opened() as path:
            for module in _MODULES.get(file.format, ()):
                import_module(module)
            load_identifier()
            per_mib = CPU_SECONDS_PER_MIB_OF_PDF if file.format == "pdf" else CPU_SECONDS_PER_MIB
            limits = Limits(cpu_seconds(path.stat().st_size, per_mib), (path,))
            return run_limited(_read_at, (file, path, known), limits)
    except DocumentError as error:
        return [LeftOut(str(error))]
    except PassedLimit as limit:
        return [LeftOut(f"{file.name} is left out: to read it takes {limit}. {WHAT_TO_DO}")]


def _read_at(work: tuple[DocumentFile, Path, str]) -> Read:
    file, path, known = work
    try:
        sha256 = _sha256(path)
        return [] if sha256 == known else _documents(file, path, sha256)
    except (DocumentError, BookError) as error:
        return [LeftOut(str(error))]
    except MemoryError:
        raise
    except Exception as error:
        # Libraries fail in many ways at what strangers have made; the next document is another.
        log.warning("%s: its reader failed: %r", file.name, error)
        return [LeftOut(f"{file.name} is left out: its reader failed. {WHAT_TO_DO}")]


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _documents(file: DocumentFile, path: Path, sha256: str) -> Read:
    if not path.stat().st_size:
        raise DocumentError(f"{file.name} is empty.")
    if file.format in ("jsonl", "csv"):
        rows = (
            json_rows(path.read_bytes(), file.name)
            if file.format == "jsonl"
            else csv_rows(_text(path, file.name), file.name)
        )
        found = _in_one_line([_row(row, file) for row in rows], file.name)
        return found or [LeftOut(f"{file.name} holds no document.")]
    text = _FORMATS[file.format](path, file.name)
    return [_found(file, sha256, text)]


def _found(file: DocumentFile, sha256: str, text: DocumentText) -> FoundDocument:
    if not has_text(text.blocks):
        raise DocumentError(" ".join((f"{file.name} holds no text.", *text.notes)))
    title = text.title or PurePosixPath(file.name).stem.replace("_", " ")
    return FoundDocument(
        external_id=file.name,
        title=title[:MAX_TITLE],
        format=file.format,
        file_name=file.name,
        sha256=sha256,
        text=text,
        language=_language(text),
    )


def _in_one_line(found: Read, name: str) -> Read:
    """Return the documents of a table and, once each, why others of its lines are left out."""
    documents: Read = []
    lines: dict[str, list[int]] = {}
    for each in found:
        parts = re.fullmatch(rf"{re.escape(name)}, line (\d+)(.*)", getattr(each, "why", ""), re.S)
        if parts is None:
            documents.append(each)
        else:
            lines.setdefault(parts[2], []).append(int(parts[1]))
    for why, numbers in lines.items():
        told = f"{name}, line {numbers[0]}{why}"
        if len(numbers) == 2:
            told += f" Line {numbers[1]:,} is left out for the same reason."
        elif numbers[2:]:
            more, last = len(numbers) - 1, numbers[-1]
            told += f" {more:,} more lines are left out for it, the last of them line {last:,}."
        documents.append(LeftOut(told))
    return documents


def _row(row: DocumentRow | DocumentError, file: DocumentFile) -> FoundDocument | LeftOut:
    if isinstance(row, DocumentError):
        return LeftOut(str(row))
    text = read_plain_text(row.text.replace("\r\n", " \n").replace("\r", "\n"), row.links)
    if not has_text(text.blocks):
        return LeftOut(f"{row.where} holds no text.")
    whole = repr((row.title, row.text, row.url, row.licence, row.links))
    return FoundDocument(
        external_id=row.id,
        title=row.title or text.title or row.id[:MAX_TITLE],
        format=file.format,
        file_name=file.name,
        sha256=hashlib.sha256(whole.encode()).hexdigest(),
        text=text,
        language=_language(text),
        url=row.url,
        licence=row.licence,
    )


def _language(text: DocumentText) -> str:
    sample = " ".join(block.text for block in text.blocks[:200] if block.kind != HEADING)
    return language_of(sample) or text.language.lower().partition("-")[0][:35]


def _text(path: Path, name: str) -> str:
    """Return the text of a file; raises DocumentError for UTF-8 with a few bytes that are none."""
    content = path.read_bytes()
    for start, (what, ending) in _OTHERS.items():
        if content.startswith(start):
            raise DocumentError(f"{name} is {what} by what it holds: give it the ending {ending}.")
    try:
        content.decode()
    except UnicodeDecodeError as error:
        seen = content.decode(errors="replace")
        n_wrong, n_right = seen.count(_WRONG), sum(letter > "\x7f" for letter in seen)
        if n_right > 4 * n_wrong:
            places = "one place" if n_wrong == 1 else f"{n_wrong:,} places, the first"
            raise DocumentError(
                f"{name} is UTF-8 but for {places} at byte {error.start}: save it as UTF-8 again."
            ) from None
    return decoded_text(content, name).text


def decoded_page(path: Path, name: str) -> str:
    """Return the text of a page, in the encoding that it says it is in if that is so."""
    content = path.read_bytes()
    declared = _DECLARED.search(content[:_HEAD_BYTES])
    encoding = known_encoding(declared[1].decode("ascii")) if declared else ""
    try:
        if encoding and encoding != "utf-8":
            return content.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        pass
    return _text(path, name)


def _plain(path: Path, name: str) -> DocumentText:
    text = _text(path, name)
    if _MARKUP.match(text):
        raise DocumentError(f"{name} is a page in HTML by what it holds: give it the ending .html.")
    return read_plain_text(text)


def _markdown(path: Path, name: str) -> DocumentText:
    return read_markdown(_text(path, name))


def _web_page(path: Path, name: str) -> DocumentText:
    return read_web_page(decoded_page(path, name))


def _pdf(path: Path, name: str) -> DocumentText:
    from collector.ingest.documents.formats.pdf import read_pdf

    with path.open("rb") as file:
        if b"%PDF-" not in file.read(1024):
            raise DocumentError(f"{name} is no PDF by what it holds: give it its right ending.")
    return read_pdf(path, name)


def _word(path: Path, name: str) -> DocumentText:
    from collector.ingest.documents.formats.word_file import read_word_file

    why = f"{name} is no docx by what it holds: give it its right ending, or save it as docx."
    with damage_told(why), zipfile.ZipFile(path) as archive:
        members = archive.infolist()
    check_members(members, name)
    return read_word_file(path, name)


_FORMATS = {"txt": _plain, "md": _markdown, "html": _web_page, "pdf": _pdf, "docx": _word}
