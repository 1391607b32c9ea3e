"""The dataset as a tree of plain values, and the content ids of its passages and questions.

All offsets are half-open, in code points. Rows collected here have true ones; imported rows
keep what the official file says and carry that file's own object in `imported`, which is written
back as it is: set `imported` to None for a row that was changed here.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid5

MAIN = "main"
QUESTION = "question"
# The type of an answer, and what predictions say, where a question has none.
NONE = "none"
NAMESPACE = UUID("6f3a8d52-1c9e-4b57-9a60-2e4d7b13c8f5")


class LayoutError(ValueError):
    """A file is not in the official layout; the message names the place and what to do."""


@dataclass(frozen=True)
class Link:
    """A link of a passage or an article: target title, offsets into that text."""

    target: str
    start: int
    end: int


@dataclass(frozen=True)
class Span:
    """A marked piece of text, evidence or answer.

    passage: MAIN, QUESTION (answers only) or the title of an article in its original case;
    start, end: offsets into the passage's text, the question, or the article's text.
    """

    passage: str
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Answer:
    """An answer by type: span (spans), value (value and unit), binary (value yes or no), none."""

    type: str
    spans: tuple[Span, ...] = ()
    value: str = ""
    unit: str = ""


@dataclass(frozen=True)
class Question:
    """A question with the links its writer chose and the evidence of its answer."""

    qid: str | None
    text: str
    question_links: tuple[str, ...]
    evidence: tuple[Span, ...]
    answer: Answer
    imported: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Passage:
    """A paragraph of the article `title` with its links, sorted by start, and its questions."""

    pid: str
    title: str
    text: str
    links: tuple[Link, ...]
    questions: tuple[Question, ...]
    imported: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Article:
    """A linked article; of an imported one `title` is the file's key, `imported` its markup."""

    title: str
    text: str
    links: tuple[Link, ...]
    imported: str | None = None


@dataclass(frozen=True)
class Dataset:
    """Passages by fold (train, dev, test) and the linked articles; None writes no articles file.

    The iterables are gone through once each, fold by fold, then the articles, so that rows may
    be streamed from a database.
    """

    folds: Mapping[str, Iterable[Passage]]
    articles: Iterable[Article] | None = None


def passage_id(title: str, text: str, nth: int = 0) -> str:
    """Return "p_…" from content; nth: how many equal passages came before in the corpus."""
    return "p_" + _content_id("passage", title, text, nth)


def question_id(pid: str, text: str, nth: int = 0) -> str:
    """Return "q_…" from content; nth: how many equal questions of the passage came before."""
    return "q_" + _content_id("question", pid, text, nth)


def _content_id(*parts: str | int) -> str:
    """Return the name-based UUID of `parts` as 32 hexadecimal digits."""
    return uuid5(NAMESPACE, json.dumps(parts)).hex
