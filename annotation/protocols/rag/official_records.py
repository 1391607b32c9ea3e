"""Released files as records, so that they can be stored, compared, and written again equal."""

import json
from collections.abc import Iterator, Mapping, Sequence
from types import UnionType
from typing import Any

from annotation.records.json_items import Items, load
from annotation.records.schema import (
    IMPORTED,
    PUBLISHED,
    ArticleRecord,
    PassageRecord,
    QuestionRecord,
    SeedRecord,
    VoteRecord,
    published_vote,
)

# Of a set of passages that was read: its file, as JSON without what it lists.
FILE = "file"
KINDS: dict[type | UnionType, str] = {
    dict: "an object",
    list: "a list",
    list | Items: "a list",
    str: "a text",
    int: "a whole number",
    bool: "a boolean",
}
MARKS = ("evidence", "other_evidence", "plausible_evidence")


class LayoutError(ValueError):
    """A file is not in the layout; the message names the place and what to do."""


def parse(name: str, content: bytes) -> dict[str, Any]:
    """Return a file's object, its lists looked through; raises LayoutError naming the place."""
    whole = _of(dict, _loaded(name, content), name)
    for number, about in enumerate(_field(whole, "data", list | Items, name)):
        where = f"{name}: set {number}"
        for paragraph in _field(_of(dict, about, where), "paragraphs", list, where):
            for field in ("id", "document", "title", "section", "context"):
                _field(_of(dict, paragraph, where), field, str, where)
        for place, question in enumerate(_field(about, "qas", list, where)):
            _check_question(question, f"{where}, question {place}")
    return whole


def seed_records(whole: Mapping[str, Any], fold: str) -> Iterator[SeedRecord]:
    """Yield every set of passages of a parsed file with its questions, kept in its fold."""
    file = json.dumps({**whole, "data": []})
    for number, about in enumerate(whole["data"]):
        key = f"{fold}/{number}"
        yield {
            "id": key,
            "key": key,
            "fold": fold,
            "payload": {
                IMPORTED: json.dumps({**about, "qas": []}),
                FILE: file,
                "rule": str(about.get("rule", "")),
            },
            "passages": [_passage(paragraph) for paragraph in about["paragraphs"]],
            "questions": [
                _question(raw, fold, f"{key}/{place}") for place, raw in enumerate(about["qas"])
            ],
        }


def article_records(name: str, content: bytes) -> Iterator[ArticleRecord]:
    """Yield the passages of the corpus, each line as it is; raises LayoutError naming the line."""
    # Not every end of a line for Python is one here.
    for number, line in enumerate(content.decode("utf-8").split("\n"), 1):
        if not line.strip():
            continue
        where = f"{name}: line {number}"
        loaded = _of(dict, _loaded(where, line.encode()), where)
        yield {
            "title": _field(loaded, "_id", str, where),
            "text": "",
            "links": [],
            "imported": line,
        }


def _passage(paragraph: Mapping[str, Any]) -> PassageRecord:
    return {
        "title": paragraph["title"],
        "section": paragraph["section"],
        "text": paragraph["context"],
        "links": [],
    }


def _question(raw: Mapping[str, Any], fold: str, key: str) -> QuestionRecord:
    return {
        "id": raw["id"],
        "key": key,
        "text": raw["question"],
        "payload": {IMPORTED: json.dumps(raw), "category": raw.get("category")},
        "stage": str(raw.get("source", "")),
        "worker": None,
        "synthetic": False,
        "verdict": PUBLISHED.copy(),
        "split": fold,
        "votes": _votes(raw),
    }


def _votes(raw: Mapping[str, Any]) -> list[VoteRecord]:
    """Return a vote for each published answer; one that there is none, where none is published."""
    evidence = [_mark(one) for one in raw["evidence"]]
    full = str(raw.get("full_answer", ""))
    given: list[tuple[str, dict[str, Any]]] = [
        ("answer", {"short": answer["text"], "full": full, "reason": "", "evidence": evidence})
        for answer in raw["answers"]
    ]
    plausible = [_mark(one) for one in raw.get("plausible_evidence", ())]
    nothing = {"short": "", "full": "", "reason": "", "evidence": [], "plausible": plausible}
    return [
        published_vote(type, payload, chosen=place == 0)
        for place, (type, payload) in enumerate(given or [("none", nothing)])
    ]


def _mark(one: Mapping[str, Any]) -> dict[str, Any]:
    document, _, position = one["passage_id"].rpartition("#")
    return {
        "document": one.get("document", document),
        "paragraph": int(position) if position.isdecimal() else 0,
        "start": one["answer_start"],
        "end": one["answer_start"] + len(one["text"]),
        "text": one["text"],
    }


def _check_question(raw: Any, where: str) -> None:
    for name in ("id", "question"):
        _field(_of(dict, raw, where), name, str, where)
    _field(raw, "is_impossible", bool, where)
    for answer in _field(raw, "answers", list, where):
        _field(_of(dict, answer, where), "text", str, where)
    _field(raw, "evidence", list, where)
    for name in MARKS:
        marks: Sequence[Any] = _field(raw, name, list, where) if name in raw else ()
        for one in marks:
            _field(_of(dict, one, where), "passage_id", str, where)
            _field(one, "text", str, where)
            _field(one, "answer_start", int, where)


def _loaded(where: str, content: bytes) -> Any:
    try:
        return load(content)
    except (ValueError, RecursionError) as error:
        raise LayoutError(f"{where}: it is not valid JSON ({error}); write it again.") from None


def _field(raw: Mapping[str, Any], name: str, kind: type | UnionType, where: str) -> Any:
    if name not in raw:
        raise LayoutError(f"{where} has no {name!r}; give a file of a release.")
    return _of(kind, raw[name], f"{where}, {name!r}")


def _of(kind: type | UnionType, value: Any, where: str) -> Any:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise LayoutError(f"{where} must be {KINDS[kind]}; give a file of a release.")
    return value
