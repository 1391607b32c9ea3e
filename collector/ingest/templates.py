"""Drops templates, but keeps the words of those that only dress words up."""

from typing import NamedTuple

from collector.ingest.names import is_disambiguation, is_infobox
from collector.ingest.phrases import Reader, arguments_of, reader_of
from collector.ingest.whitespace_repair import join

# MediaWiki expands no template deeper than this.
MAX_DEPTH = 40
# A template that dresses up more text than this is a layout, not a phrase.
MAX_CHARACTERS = 5000
# Names remembered at most.
MAX_NAMES = 50_000
# More than any article has; names as long as a title may be.
MAX_INFOBOXES = 50
MAX_NAME = 255


class Dropped(NamedTuple):
    """Text without its templates, and what those said of the page.

    infoboxes: their names in order, each once, in lower case.
    """

    text: str
    is_disambiguation: bool
    infoboxes: list[str]


class Templates:
    """Drops the templates of pages; remembers what their names mean."""

    def __init__(self, *, phrases: bool = True) -> None:
        """Make one for a process; without `phrases` no template leaves any words."""
        self._phrases = phrases
        self._readers: dict[str, Reader | None] = {}

    def drop(self, text: str) -> Dropped:
        """Return `text` without templates, whether one marks it as a list of meanings, infoboxes.

        An opening without an end loses its braces only; the time is linear in any nesting.
        """
        first, *parts = text.split("{{")
        kept: list[str] = [first]
        opened: list[int] = []
        marked = False
        infoboxes: dict[str, None] = {}
        readers = self._readers
        for part in parts:
            inside, *afters = part.split("}}")
            opened.append(len(kept))
            kept.append(inside)
            for after in afters:
                if not opened:
                    kept.append(after)
                    continue
                start = opened.pop()
                name = kept[start].partition("|")[0]
                reader = readers[name] if name in readers else self._reader(name)
                words = ""
                if reader is None:
                    pass
                elif reader is _marks_disambiguation:
                    marked = True
                elif reader is _says_what_it_is:
                    infoboxes[_plain(name)] = None
                elif len(opened) < MAX_DEPTH:
                    words = _words(reader, "".join(kept[start:]))
                del kept[start:]
                if words:
                    kept.append(words)
                if not words and not opened and kept[-1][-1:] in (" ", "\n", "("):
                    join(kept, after)
                elif after:
                    kept.append(after)
        return Dropped("".join(kept), marked, list(infoboxes)[:MAX_INFOBOXES])

    def _reader(self, name: str) -> Reader | None:
        if len(self._readers) > MAX_NAMES:
            self._readers.clear()
        plain = _plain(name)
        reader: Reader | None = None
        if is_disambiguation(plain):
            reader = _marks_disambiguation
        elif is_infobox(plain):
            reader = _says_what_it_is
        elif self._phrases:
            reader = reader_of(plain)
        self._readers[name] = reader
        return reader


def _plain(name: str) -> str:
    return " ".join(name.replace("_", " ").lower().split())[:MAX_NAME]


def _words(reader: Reader, content: str) -> str:
    return reader(arguments_of(content)) if len(content) <= MAX_CHARACTERS else ""


def _marks_disambiguation(arguments: list[str]) -> str:
    return ""


def _says_what_it_is(arguments: list[str]) -> str:
    return ""
