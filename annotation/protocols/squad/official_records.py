"""Official files as records, so that they can be stored, compared, and written again equal."""

import json
from collections.abc import Iterator, Mapping, Sequence
from types import UnionType
from typing import Any

from annotation.records.json_items import Items, load
from annotation.records.schema import (
    IMPORTED,
    PUBLISHED,
    QuestionRecord,
    SeedRecord,
    VoteRecord,
    published_vote,
)
from tasks.work.widgets.spans import MAIN

# Of a paragraph that was read: its article and its file, as JSON without what they list, and the
# article's number in the file.
ARTICLE, FILE, NUMBER = "article", "file", "number"
KINDS: dict[type | UnionType, str] = {
    dict: "an object",
    list: "a list",
    list | Items: "a list",
    str: "a text",
    int: "a whole number",
}


class LayoutError(ValueError):
    """A file is not in the official layout; the message names the place and what to do."""


def parse(name: str, content: bytes) -> dict[str, Any]:
    """Return a file's object, its lists looked through; raises LayoutError naming the place."""
    try:
        loaded = load(content)
    except (ValueError, RecursionError) as error:
        raise LayoutError(f"{name}: it is not valid JSON ({error}); write it again.") from None
    whole = _of(dict, loaded, name)
    for n_article, article in enumerate(_field(whole, "data", list | Items, name)):
        where = f"{name}: article {n_article}"
        paragraphs = _field(_of(dict, article, where), "paragraphs", list, where)
        if not paragraphs:
            raise LayoutError(f"{where} has no paragraph: take it out.")
        for n_paragraph, paragraph in enumerate(paragraphs):
            _check_paragraph(paragraph, f"{where}, paragraph {n_paragraph}")
    return whole


def seed_records(name: str, whole: Mapping[str, Any], fold: str) -> Iterator[SeedRecord]:
    """Yield every paragraph of a parsed file with its questions, kept in its fold.

    The file's own objects come along; what they list is left out and put in again at the end.
    """
    file = json.dumps({**whole, "data": []})
    for number, article in enumerate(whole["data"]):
        about = json.dumps({**article, "paragraphs": []})
        for place, paragraph in enumerate(article["paragraphs"]):
            key = f"{fold}/{number}/{place}"
            title = str(article.get("title") or "")
            yield {
                "id": key,
                "key": key,
                "fold": fold,
                "payload": {
                    IMPORTED: json.dumps({**paragraph, "qas": []}),
                    ARTICLE: about,
                    FILE: file,
                    NUMBER: number,
                },
                "passages": [
                    {"title": title, "section": "", "text": paragraph["context"], "links": []}
                ],
                "questions": [
                    _question(raw, fold, f"{key}/{at}") for at, raw in enumerate(paragraph["qas"])
                ],
            }


def _question(raw: Mapping[str, Any], fold: str, key: str) -> QuestionRecord:
    return {
        "id": raw["id"],
        "key": key,
        "text": raw["question"],
        "payload": {IMPORTED: json.dumps(raw)},
        "stage": "",
        "worker": None,
        "synthetic": False,
        "verdict": PUBLISHED.copy(),
        "split": fold,
        "votes": _votes(raw),
    }


def _votes(raw: Mapping[str, Any]) -> list[VoteRecord]:
    """Return a vote for each published answer; one that there is none, where none is published."""
    plausible = _spans(raw.get("plausible_answers") or ())
    given: list[tuple[str, dict[str, Any]]] = [
        ("span", {"spans": [span], "plausible": [], "reason": ""})
        for span in _spans(raw["answers"])
    ]
    nothing = {"spans": [], "plausible": plausible, "reason": ""}
    return [
        published_vote(type, payload, chosen=place == 0)
        for place, (type, payload) in enumerate(given or [("none", nothing)])
    ]


def _spans(answers: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "document": MAIN,
            "start": answer["answer_start"],
            "end": answer["answer_start"] + len(answer["text"]),
            "text": answer["text"],
        }
        for answer in answers
    ]


def _check_paragraph(paragraph: Any, where: str) -> None:
    _field(_of(dict, paragraph, where), "context", str, where)
    for number, question in enumerate(_field(paragraph, "qas", list, where)):
        place = f"{where}, question {number}"
        _field(_of(dict, question, place), "id", str, place)
        _field(question, "question", str, place)
        listed = [_field(question, "answers", list, place)]
        if "plausible_answers" in question:
            listed.append(_field(question, "plausible_answers", list, place))
        for answer in (each for some in listed for each in some):
            _field(_of(dict, answer, place), "text", str, place)
            _field(answer, "answer_start", int, place)


def _field(raw: Mapping[str, Any], name: str, kind: type | UnionType, where: str) -> Any:
    if name not in raw:
        raise LayoutError(f"{where} has no {name!r}; give a file in SQuAD's layout.")
    return _of(kind, raw[name], f"{where}, {name!r}")


def _of(kind: type | UnionType, value: Any, where: str) -> Any:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise LayoutError(f"{where} must be {KINDS[kind]}; give a file in SQuAD's layout.")
    return value
