"""Reads official files into the tree, keeping every object as the file has it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from annotation.protocols.iirc.dataset_tree import (
    Answer,
    Article,
    LayoutError,
    Link,
    Passage,
    Question,
    Span,
)
from annotation.protocols.iirc.markup import from_markup
from annotation.records.json_items import Items, load

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
