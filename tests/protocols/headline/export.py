"""The official layout, one file of one headline a line, and its inverse."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from annotation.records.schema import (
    IMPORTED,
    ArticleRecord,
    Published,
    QuestionRecord,
    SeedRecord,
    chosen_vote,
)

FILE = "headlines.jsonl"
SPLITS = ("train", "test")


def files(
    seeds_by_split: Mapping[str, Iterable[SeedRecord]], articles: Iterable[ArticleRecord] | None
) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield the one file with its lines; no article is needed to read a headline."""
    yield FILE, _lines(seeds_by_split)


def _lines(seeds_by_split: Mapping[str, Iterable[SeedRecord]]) -> Iterator[bytes]:
    for split, seeds in seeds_by_split.items():
        for seed in seeds:
            for question in seed["questions"]:
                line = _line(split, seed, question)
                yield json.dumps(line, ensure_ascii=False).encode() + b"\n"


def _line(split: str, seed: SeedRecord, question: QuestionRecord) -> dict[str, Any]:
    if IMPORTED in question["payload"]:
        return json.loads(question["payload"][IMPORTED])
    released = chosen_vote(question)
    assert released is not None
    (passage,) = seed["passages"]
    return {
        "id": question["id"],
        "split": split,
        "title": passage["title"],
        "paragraph": passage["text"],
        "headline": question["text"],
        "label": released["type"],
        "remark": released["payload"]["fields"]["remark"],
    }


def published(files: Mapping[str, bytes]) -> Published:
    """Return official files as records; raises ValueError naming the file and the line."""
    seeds = []
    for name, content in files.items():
        for number, text in enumerate(content.decode().splitlines(), start=1):
            try:
                seeds.append(_seed(json.loads(text), text))
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"{name}, line {number}: it is no headline ({error}).") from None
    return Published(dict.fromkeys(files, ""), seeds, None)


def _seed(line: dict[str, Any], text: str) -> SeedRecord:
    question: QuestionRecord = {
        "id": line["id"],
        "key": line["id"],
        "text": line["headline"],
        "payload": {IMPORTED: text},
        "stage": "text",
        "worker": None,
        "synthetic": False,
        "verdict": {
            "outcome": "kept",
            "reason": "published",
            "sentence": "Read from a published file.",
            "overridden": False,
        },
        "split": line["split"],
        "votes": [
            {
                "stage": "label",
                "worker": None,
                "type": line["label"],
                "payload": {"fields": {"remark": line["remark"]}},
                "hit_seconds": None,
                "hit_items": None,
                "synthetic": False,
                "chosen": True,
                "agrees": True,
            }
        ],
    }
    return {
        "id": line["id"],
        "key": line["id"],
        "fold": "",
        "payload": {},
        "passages": [
            {"title": line["title"], "section": "", "text": line["paragraph"], "links": []}
        ],
        "questions": [question],
    }
