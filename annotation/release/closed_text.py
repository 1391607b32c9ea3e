"""What a release of closed documents tells of them: ids, places and checksums, and no word.

Whoever may read the documents finds each passage again by its document's id and its SHA-256.
Questions, and answers in their writers' own words, are the workers' and stay.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
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
# How marks name what is read beside documents of their own title.
PLACES = ("main", "question", "section")
Names = Mapping[str, str]


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
                "questions": [_question(question, seed) for question in seed["questions"]],
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


def _question(question: QuestionRecord, seed: SeedRecord) -> QuestionRecord:
    passages = [*seed["passages"], *chain(*question.get("contexts", {}).values())]
    ids = {one["title"]: one["document"] for one in passages if "document" in one}
    # Not titles: the names of what is read, and the numbers of the passages.
    kept = {name: name for name in (*PLACES, *map(str, range(len(passages))), *ids.values())}
    names = kept | ids
    told: QuestionRecord = {
        **question,
        "payload": _told(question["payload"], names),
        "votes": [_vote(vote, names) for vote in question["votes"]],
    }
    if "correction" in question:
        told["correction"] = _vote(question["correction"], names)
    if "contexts" in question:
        told["contexts"] = {
            name: [_passage(passage) for passage in passages]
            for name, passages in question["contexts"].items()
        }
    return told


def _vote(vote: VoteRecord, names: Names) -> VoteRecord:
    return {**vote, "payload": _told(vote["payload"], names)}


def _told(payload: dict[str, Any], names: Names) -> dict[str, Any]:
    """Return a payload without what was imported, and without text or titles of documents."""
    told = {name: _unmarked(value, names) for name, value in payload.items() if name != IMPORTED}
    if isinstance(links := told.get("links"), list):
        told["links"] = [_named(each, names) for each in links]
    return told


def _unmarked(value: Any, names: Names) -> Any:
    """Return a payload in which what is marked is told by its place alone."""
    if isinstance(value, list):
        return [_unmarked(each, names) for each in value]
    if isinstance(value, dict):
        told = {name: _unmarked(each, names) for name, each in value.items()}
        if not {"start", "end"} <= value.keys():
            return told
        # With its paragraph's number a document is named by its id.
        if "document" in told and "paragraph" not in told:
            told["document"] = _named(told["document"], names)
        return {**told, "text": ""}
    return value


def _named(title: Any, names: Names) -> Any:
    """Return the id of the document of this title, a digest of the title where it is not known."""
    return names.get(title) or text_digest(title) if isinstance(title, str) else title
