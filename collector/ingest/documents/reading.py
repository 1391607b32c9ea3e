"""Reads files into documents, several at once, in their order; each whole or not at all.

Nothing of Django's rows is loaded, so that several processes can read side by side.
"""

import hashlib
import logging
import re
from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any

from collector.ingest.documents.blocks import (
    HEADING,
    MAX_TITLE,
    DocumentRow,
    DocumentText,
    has_text,
)
from collector.ingest.documents.catalogue import formats
from collector.ingest.documents.files import DocumentFile
from collector.ingest.documents.formats.plain_text import read_plain_text
from collector.ingest.errors import BookError, DocumentError
from collector.processes import Limits, PassedLimit, cpu_seconds, in_processes, run_limited

# Fewer letters tell too little, and more tell no more.
FEWEST_LETTERS, SAMPLE = 300, 8_000
SURE = 0.8
# Languages that are written so alike that one is often taken for another.
ALIKE = (
    frozenset({"no", "nb", "nn", "da", "sv"}),
    frozenset({"hr", "bs", "sr", "sl", "mk"}),
    frozenset({"id", "ms", "jv"}),
    frozenset({"es", "gl", "pt", "an", "ca", "oc"}),
    frozenset({"cs", "sk"}),
    frozenset({"ru", "uk", "be", "bg"}),
    frozenset({"hi", "mr", "ne"}),
    frozenset({"ar", "ary", "arz", "fa", "ur", "ps", "ug"}),
    frozenset({"en", "pcm", "sco", "simple"}),
    frozenset({"de", "lb", "gsw"}),
    frozenset({"xh", "zu"}),
    frozenset({"nl", "af"}),
)


@lru_cache(maxsize=1)
def load_identifier() -> Any:
    """Return what tells languages apart, loaded once in a process: that takes long."""
    from py3langid import langid

    return langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)


def language_of(text: str) -> str:
    """Return the code of a text's language (ISO 639-1), blank where it cannot be told for sure."""
    sample = text[:SAMPLE]
    if sum(letter.isalpha() for letter in sample) < FEWEST_LETTERS:
        return ""
    code, probability = load_identifier().classify(sample)
    return str(code) if probability >= SURE else ""


def are_alike(one: str, other: str) -> bool:
    """Return whether two codes name one language, or two that are easily taken for each other."""
    first, second = (code.lower().partition("-")[0] for code in (one, other))
    return first == second or any(first in group and second in group for group in ALIKE)


log = logging.getLogger(__name__)

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
            kind = formats()[file.format]
            for module in kind.needs:
                import_module(module)
            load_identifier()
            limits = Limits(cpu_seconds(path.stat().st_size, kind.cpu_seconds_per_mib), (path,))
            return run_limited(read_file, (file, path, known), limits)
    except DocumentError as error:
        return [LeftOut(str(error))]
    except PassedLimit as limit:
        return [LeftOut(f"{file.name} is left out: to read it takes {limit}. {WHAT_TO_DO}")]


def read_file(work: tuple[DocumentFile, Path, str]) -> Read:
    """Return what a file at a path holds; nothing where its checksum is the known one.

    What goes wrong is returned as LeftOut. No limits are set: `read_files` sets them.
    """
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
    kind = formats()[file.format]
    if kind.has_rows:
        found = _in_one_line([_row(row, file) for row in kind.rows(path, file.name)], file.name)
        return found or [LeftOut(f"{file.name} holds no document.")]
    text = kind.read(path, file.name)
    if not has_text(text.blocks):
        raise DocumentError(" ".join((f"{file.name} holds no text.", *text.notes)))
    title = text.title or PurePosixPath(file.name).stem.replace("_", " ")
    return [
        FoundDocument(
            external_id=file.name,
            title=title[:MAX_TITLE],
            format=file.format,
            file_name=file.name,
            sha256=sha256,
            text=text,
            language=_language(text),
        )
    ]


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
