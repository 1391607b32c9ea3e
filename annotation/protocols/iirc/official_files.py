"""Official files: the dataset as a tree of plain values, ids from content, links as markup."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote, unquote
from uuid import UUID, uuid5

from annotation.records.json_items import Items, load

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


TAG = re.compile("<[^>]*>")
OPENING = re.compile(r"<a\s[^>]*?href=\"([^\">]*)\"", re.IGNORECASE)
LESS_THAN = "＜"


def readable(text: str) -> str:
    """Return `text` as a reader of the article sees it after deleting the tags."""
    return text.replace("<", LESS_THAN)


def to_markup(text: str, links: Sequence[Link]) -> str:
    """Return `text` with its links as anchors, targets percent-encoded.

    Raises ValueError for links that are not sorted, overlap or reach beyond the text.
    """
    text = readable(text)
    pieces: list[str] = []
    position = 0
    for link in links:
        if not position <= link.start <= link.end <= len(text):
            raise ValueError(
                f"The link to {link.target!r} at {link.start}:{link.end} overlaps the one before "
                "it or leaves the text: sort the links and keep the first of two that overlap."
            )
        pieces.append(text[position : link.start])
        pieces.append(f'<a href="{quote(link.target)}">{text[link.start : link.end]}</a>')
        position = link.end
    return "".join([*pieces, text[position:]])


def from_markup(markup: str) -> tuple[str, tuple[Link, ...]]:
    """Return the text without tags and the links in it; entities and other text stay."""
    pieces: list[str] = []
    links: list[Link] = []
    opened: tuple[str, int] | None = None
    position = length = 0
    for tag in TAG.finditer(markup):
        pieces.append(markup[position : tag.start()])
        length += tag.start() - position
        position = tag.end()
        if opening := OPENING.match(tag.group()):
            opened = (unquote(opening.group(1)), length)
        elif opened and tag.group().lower() == "</a>":
            links.append(Link(opened[0], opened[1], length))
            opened = None
    pieces.append(markup[position:])
    return "".join(pieces), tuple(links)


Value = TypeVar("Value")
KINDS = {dict: "an object", list: "a list", str: "a string", int: "a whole number"}


def parse(name: str, content: bytes) -> Any:
    """Return the JSON value of a file; raises LayoutError naming the file and the line."""
    try:
        return json.loads(content)
    except UnicodeDecodeError:
        raise LayoutError(f"{name}: it is not UTF-8 text; give the official JSON file.") from None
    except json.JSONDecodeError as error:
        raise LayoutError(
            f"{name}: it is not valid JSON (line {error.lineno}: {error.msg}); "
            "download or write it again."
        ) from None


def read_passages(name: str, content: bytes) -> tuple[Passage, ...]:
    """Return the passages of a fold's file; raises LayoutError naming file and place."""
    return tuple(passages_of(name, content))


def passages_of(name: str, content: bytes) -> Iterator[Passage]:
    """Yield the passages of a fold's file one by one; raises LayoutError at the place."""
    try:
        passages = load(content)
    except (ValueError, RecursionError):
        passages = parse(name, content)
    if not isinstance(passages, Items):
        passages = _of(list, passages, f"{name}: the whole file")
    for index, raw in enumerate(passages):
        yield _passage(raw, f"{name}: passage {index}")


def read_articles(name: str, content: bytes) -> tuple[Article, ...]:
    """Return the linked articles of context_articles.json; raises LayoutError."""
    return tuple(articles_of(name, content))


def articles_of(name: str, content: bytes) -> Iterator[Article]:
    """Yield the linked articles one by one; raises LayoutError at the place."""
    articles = _of(dict, parse(name, content), f"{name}: the whole file")
    for title, markup in articles.items():
        read = from_markup(_of(str, markup, f"{name}: {title!r}"))
        yield Article(title, *read, imported=markup)


def _passage(raw: Any, where: str) -> Passage:
    """Return one passage; `imported` keeps the place of its questions but not the questions."""
    raw = _of(dict, raw, where)
    questions = _items(raw, "questions", where)
    return Passage(
        pid=_field(raw, "pid", "", where),
        title=_field(raw, "title", "", where),
        text=_field(raw, "text", "", where),
        links=tuple(_link(link, f"{where}, links") for link in _items(raw, "links", where)),
        questions=tuple(
            question_of(question, f"{where}, question {index}")
            for index, question in enumerate(questions)
        ),
        imported={**raw, "questions": None} if "questions" in raw else raw,
    )


def question_of(raw: Any, where: str) -> Question:
    """Return one question of the official layout; raises LayoutError naming `where`."""
    raw = _of(dict, raw, where)
    links = _items(raw, "question_links", where)
    if raw.get("question", "") is None:
        raise LayoutError(f"{where}: it has no question; give it one, or take it out of the file.")
    return Question(
        qid=_field(raw, "qid", "", where) or None,
        text=_field(raw, "question", "", where),
        question_links=tuple(_of(str, link, f"{where}, question_links") for link in links),
        evidence=tuple(
            _evidence(span, f"{where}, context") for span in _items(raw, "context", where)
        ),
        answer=_answer(_field(raw, "answer", {}, where), f"{where}, answer"),
        imported=raw,
    )


def _answer(raw: Mapping[str, Any], where: str) -> Answer:
    """Return one answer of any type."""
    spans = _items(raw, "answer_spans", where)
    return Answer(
        type=_field(raw, "type", "", where),
        spans=tuple(_answer_span(span, where) for span in spans),
        value=_text(raw, "answer_value", where),
        unit=_text(raw, "answer_unit", where),
    )


def _answer_span(raw: Any, where: str) -> Span:
    """Return one answer span, its offsets as the file has them."""
    raw = _of(dict, raw, where)
    start, end = _field(raw, "start", 0, where), _field(raw, "end", 0, where)
    return Span(_field(raw, "passage", "", where), _field(raw, "text", "", where), start, end)


def _evidence(raw: Any, where: str) -> Span:
    """Return one piece of evidence, its offsets as the file has them."""
    raw = _of(dict, raw, where)
    start, end = _indices(raw, where)
    return Span(_field(raw, "passage", "", where), _field(raw, "text", "", where), start, end)


def _link(raw: Any, where: str) -> Link:
    """Return one link of a passage."""
    raw = _of(dict, raw, where)
    return Link(_field(raw, "target", "", where), *_indices(raw, where))


def _indices(raw: Mapping[str, Any], where: str) -> tuple[int, int]:
    """Return the pair of offsets, which may be negative in official files."""
    indices = _items(raw, "indices", where) or [0, 0]
    if len(indices) != 2:
        raise LayoutError(f"{where}: indices must be a start and an end, not {indices!r}.")
    return _of(int, indices[0], f"{where}, indices"), _of(int, indices[1], f"{where}, indices")


def _text(raw: Mapping[str, Any], key: str, where: str) -> str:
    """Return raw[key] as text, also where a file writes a value as a JSON number."""
    value = raw.get(key)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return _field(raw, key, "", where)


def _items(raw: Mapping[str, Any], key: str, where: str) -> list[Any]:
    """Return the list raw[key]; an empty one where it is absent or null."""
    return _field(raw, key, [], where)


def _field(raw: Mapping[str, Any], key: str, default: Value, where: str) -> Value:
    """Return raw[key], of the type of `default`; the default where it is absent or null."""
    value = raw.get(key)
    return default if value is None else _of(type(default), value, f"{where}, {key}")


def _of(kind: type[Value], value: Any, where: str) -> Value:
    """Return `value`; raises LayoutError naming `where` unless it is of that kind."""
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise LayoutError(
            f"{where} must be {KINDS[kind]}; is this the official layout of passages and articles?"
        )
    return value


class NumberedQuestion(NamedTuple):
    """A question that the conversion keeps, with its number and its DROP-style answer."""

    number: int
    question: Mapping[str, Any]
    answer: dict[str, Any]

    @property
    def query_id(self) -> str:
        """Return the id under which predictions answer this question."""
        return f"qid_{self.number}"


def numbered(passages: Iterable[Mapping[str, Any]], initial: int = 0) -> Iterator[NumberedQuestion]:
    """Yield the questions of official `passages` that are kept, numbered from initial + 1.

    The official dev file is numbered on from the length of the converted train file. Bad
    questions use up no number.
    """
    number = initial
    for passage in passages:
        for question in passage["questions"]:
            answer = drop_answer(question["answer"])
            if answer is not None:
                number += 1
                yield NumberedQuestion(number, question, answer)


def drop_answer(answer: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return an official answer in DROP style; None for a bad question. The unit is lost.

    Raises LayoutError for an unknown type.
    """
    kind = answer["type"]
    if kind == "bad":
        return None
    number: str = answer["answer_value"] if kind == "value" else ""
    if kind == "span":
        spans = [span["text"] for span in answer["answer_spans"]]
    elif kind == "binary":
        spans = [answer["answer_value"]]
    elif kind in ("value", "none"):
        spans = []
    else:
        raise LayoutError(f"unknown answer type {kind!r}: use span, value, binary, none or bad")
    return {"date": {"day": "", "month": "", "year": ""}, "number": number, "spans": spans}


def n_linked_documents(question: Mapping[str, Any]) -> int:
    """Return how many documents but the main passage a question needs (IIRC 2.4, T4).

    Those that hold the evidence. Where there is no answer there is no evidence either (2.3): then
    the links that the writer picked, so that nearly half of 4+ can be unanswerable (4.3).
    """
    if question.get("answer", {}).get("type") == "none":
        return len(set(question.get("question_links", ())))
    return len({span["passage"] for span in question.get("context", ())} - {MAIN})
