"""A linked article as a reader has it: sentences with their places in the article's text."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

# Further down an article even a patient reader only skims.
MOST_SENTENCES = 60


@dataclass(frozen=True)
class Sentence:
    """`start` is the sentence's first code point in the article's text."""

    start: int
    text: str

    @property
    def end(self) -> int:
        """Return where it ends, half-open."""
        return self.start + len(self.text)


@dataclass(frozen=True)
class Found:
    """A piece of a document and the sentence of it that proves it."""

    document: str
    start: int
    end: int
    text: str
    sentence: Sentence

    def span(self) -> dict[str, Any]:
        """Return it as a page sends a marked span."""
        return {"document": self.document, "start": self.start, "end": self.end}


@dataclass(frozen=True)
class Article:
    """What the page shows of an opened article, its first sentences alone."""

    title: str
    sentences: tuple[Sentence, ...]

    def search(self, pattern: str, first: int = MOST_SENTENCES, group: int = 1) -> Found | None:
        """Return the first match of `group` of `pattern` in the first sentences, or None."""
        for sentence in self.sentences[:first]:
            for match in re.finditer(pattern, sentence.text):
                if found := self.found(sentence, *match.span(group)):
                    return found
        return None

    def found(self, sentence: Sentence, start: int, end: int) -> Found | None:
        """Return the piece from `start` to `end` of a sentence, None if it holds only spaces."""
        words = sentence.text[max(0, start) : end]
        if start < 0 or not words.strip():
            return None
        begin = sentence.start + start + len(words) - len(words.lstrip())
        words = words.strip()
        return Found(self.title, begin, begin + len(words), words, sentence)


def read(page: Mapping[str, Any]) -> Article:
    """Return the article in the form that the page gets when a reader opens it."""
    return Article(page["title"], tuple(islice(_sentences(page), MOST_SENTENCES)))


def _sentences(page: Mapping[str, Any]) -> Iterator[Sentence]:
    for section in page["sections"]:
        for paragraph in section["paragraphs"]:
            for start, end in paragraph["sentences"]:
                text = paragraph["text"][start:end]
                if text.strip():
                    yield Sentence(paragraph["start"] + start, text)
