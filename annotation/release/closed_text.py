"""What a release of closed documents tells of them: ids, places and checksums, and no word.

Whoever may read the documents finds each passage again by its document's id and its SHA-256.
Questions, and answers in their writers' own words, are the workers' and stay.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from annotation.release.records_schema import (
    IMPORTED,
    PassageRecord,
    QuestionRecord,
    SeedRecord,
    VoteRecord,
)
from collector.ingest.licences import CLOSED
from collector.models import Corpus

NOTE = (
    "The documents are closed: no word of them is in this folder. A passage is told by its "
    "document's id and by the SHA-256 and the length of its text, what is marked in it by its "
    "offsets. Questions, and answers in people's own words, are as they wrote them.\n"
)
# What a seed's payload tells of its document in no word of it: its id and what kind it is.
TOLD = ("document_id", "kind")


@dataclass(frozen=True)
class WithoutText:
    """Seeds as a release of closed documents tells them, read anew each time."""

    seeds: Iterable[SeedRecord]

    def __iter__(self) -> Iterator[SeedRecord]:
        return (
            {
                **seed,
                "payload": {name: value for name, value in seed["payload"].items() if name in TOLD},
                "passages": [_passage(passage) for passage in seed["passages"]],
                "questions": [_question(question) for question in seed["questions"]],
            }
            for seed in self.seeds
        )


def is_closed(corpus: Corpus) -> bool:
    """Return whether the corpus, or any document in it, must not be published."""
    return (
        corpus.licence_name.casefold() == CLOSED
        or corpus.articles.filter(document__licence__iexact=CLOSED).exists()
    )


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text in hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def _passage(passage: PassageRecord) -> PassageRecord:
    told: PassageRecord = {
        "title": passage.get("document", ""),
        "section": "",
        "text": "",
        "links": [],
        "sha256": passage.get("sha256") or text_digest(passage["text"]),
        "n_characters": len(passage["text"]),
    }
    if "document" in passage:
        told["document"] = passage["document"]
    return told


def _question(question: QuestionRecord) -> QuestionRecord:
    told: QuestionRecord = {
        **question,
        "payload": _unmarked(_without_import(question["payload"])),
        "votes": [_vote(vote) for vote in question["votes"]],
    }
    if "correction" in question:
        told["correction"] = _vote(question["correction"])
    if "contexts" in question:
        told["contexts"] = {
            name: [_passage(passage) for passage in passages]
            for name, passages in question["contexts"].items()
        }
    return told


def _vote(vote: VoteRecord) -> VoteRecord:
    return {**vote, "payload": _unmarked(_without_import(vote["payload"]))}


def _without_import(payload: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in payload.items() if name != IMPORTED}


def _unmarked(value: Any) -> Any:
    """Return a payload in which what is marked is told by its place alone."""
    if isinstance(value, list):
        return [_unmarked(each) for each in value]
    if isinstance(value, dict):
        told = {name: _unmarked(each) for name, each in value.items()}
        return {**told, "text": ""} if {"start", "end"} <= value.keys() else told
    return value
