"""Reads documents from JSON Lines and CSV: id, title, text, and url, licence, links where given."""

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from collector.ingest.documents.blocks import MAX_ID, MAX_TITLE, DocumentRow
from collector.ingest.documents.catalogue import DocumentFormat, text_of
from collector.ingest.errors import DocumentError
from collector.ingest.licences import CLOSED
from collector.ingest.lines import Link
from common.storable import is_text

MOST_CHARACTERS = 20_000_000


class JsonLines(DocumentFormat):
    """A JSON object a line."""

    name = "jsonl"
    label = help = "JSON Lines"
    extensions = ("jsonl", "ndjson")
    rank = 6
    has_rows = True

    def rows(self, path: Path, name: str) -> Iterator[DocumentRow | DocumentError]:
        """Yield the documents of a JSON Lines file, and of each line that holds none, why."""
        for number, line in enumerate(
            path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1
        ):
            if line.strip():
                where = f"{name}, line {number}"
                try:
                    value = orjson.loads(line)
                except orjson.JSONDecodeError as error:
                    yield DocumentError(f"{where} is no JSON in UTF-8: {error}.")
                    continue
                yield _checked(value, where)


class Csv(DocumentFormat):
    """A row of cells a document, below the names of the columns."""

    name = "csv"
    label = help = "CSV"
    extensions = ("csv",)
    rank = 7
    has_rows = True

    def rows(self, path: Path, name: str) -> Iterator[DocumentRow | DocumentError]:
        """Yield the documents of a CSV, and of each row that holds none, why."""
        text = text_of(path, name)
        head = text.partition("\n")[0]
        delimiter = max(",;\t", key=head.count)
        csv.field_size_limit(MOST_CHARACTERS)
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        try:
            columns = {str(each).strip().lower(): each for each in reader.fieldnames or ()}
            if "text" not in columns:
                yield DocumentError(f"{name} has no column called text in its first line.")
                return
            for row in reader:
                where = f"{name}, line {reader.line_num}"
                value: dict[str, Any] = {key: row.get(column) for key, column in columns.items()}
                if None in row or None in value.values():
                    yield DocumentError(f"{where} has not as many cells as the first line.")
                    continue
                try:
                    value["links"] = orjson.loads(value.get("links") or "[]")
                except orjson.JSONDecodeError:
                    yield DocumentError(f"{where}: links are a JSON list of [start, end, id].")
                    continue
                yield _checked(value, where)
        except csv.Error as error:
            yield DocumentError(f"{name}, line {reader.line_num} is no CSV: {error}.")


def _checked(value: Any, where: str) -> DocumentRow | DocumentError:
    if not isinstance(value, dict):
        return DocumentError(f"{where} is no object with id, title and text.")
    words = {key: _word(value, key) for key in ("id", "title", "text", "url", "licence")}
    words["licence"] = words["licence"] or _word(value, "license")
    for key, word in words.items():
        if word is None:
            return DocumentError(f"{where}: {key} is no text.")
    text = words["text"] or ""
    if not text.strip():
        return DocumentError(f"{where} has no text.")
    if not words["id"]:
        return DocumentError(f"{where} has no id.")
    if len(words["id"]) > MAX_ID:
        return DocumentError(f"{where}: the id is longer than {MAX_ID} characters.")
    try:
        links = tuple(_link(each, text) for each in value.get("links") or ())
    except (TypeError, KeyError, ValueError):
        return DocumentError(f"{where}: a link is [start, end, id of a document], inside the text.")
    word = words["licence"] or ""
    return DocumentRow(
        where,
        words["id"],
        (words["title"] or "")[:MAX_TITLE],
        text,
        (words["url"] or "")[:500],
        (CLOSED if word.casefold() == CLOSED else word[:200]),
        links,
    )


def _word(value: Mapping[str, Any], key: str) -> str | None:
    """Return the value of a key as text, blank where there is none; None for what is no text."""
    found = value.get(key)
    if found is None:
        return ""
    if isinstance(found, int) and not isinstance(found, bool):
        return str(found)
    if not isinstance(found, str) or not is_text(found):
        return None
    return found if key == "text" else found.strip()


def _link(value: Any, text: str) -> Link:
    start, end, target = (
        (value["start"], value["end"], value["target"]) if isinstance(value, dict) else value
    )
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
        raise ValueError("a link outside the text")
    return start, end, str(target).strip()
