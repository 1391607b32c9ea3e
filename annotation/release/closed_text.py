"""What a release of closed documents tells of them: ids, places and checksums, and no word.

Whoever may read the documents finds each passage again by its document's id and its SHA-256.
Questions, and answers in their writers' own words, are the workers' and stay.
"""

import hashlib
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from annotation.records.schema import (
    IMPORTED,
    PassageRecord,
    QuestionRecord,
    SeedRecord,
    VoteRecord,
)
from collector.ingest.licences import CLOSED
from collector.models import Corpus, Document

NOTE = (
    "The documents are closed: no word of them is in this folder. A passage is told by its "
    "document's id and by the SHA-256 and the length of its text, what is marked in it by its "
    "offsets. Questions, and answers in people's own words, are as they wrote them.\n"
)
# What a seed's payload tells of its document in no word of it: its id and what kind it is.
TOLD = ("document_id", "kind")
# How marks name what is read beside documents of their own title.
PLACES = ("main", "question", "section")


@dataclass(frozen=True)
class _Names:
    """What tells documents in no word of theirs: their ids by title, and all their ids.

    places: what is told as it stands, which names no title.
    """

    by_title: Mapping[str, str]
    ids: Set[str]
    places: Set[str] = frozenset(PLACES)

    def beside(self, passages: Sequence[PassageRecord]) -> "_Names":
        """Return these with what some passages tell of their documents and with their numbers."""
        shown = {one["title"]: one["document"] for one in passages if "document" in one}
        return _Names(
            ChainMap(shown, self.by_title),  # type: ignore[arg-type]
            self.ids,
            {*PLACES, *map(str, range(len(passages))), *shown.values()},
        )

    def told(self, name: Any, *, is_id: bool = False) -> Any:
        """Return what to tell of a document by its title, or by its id: that id, else a digest."""
        if not isinstance(name, str) or name in self.places or (is_id and name in self.ids):
            return name
        known = None if is_id else self.by_title.get(name)
        return known or (name if name in self.ids else text_digest(name))


@dataclass(frozen=True)
class WithoutText:
    """Seeds as a release of closed documents tells them, read anew each time.

    ids: the documents' own ids, by title.
    """

    seeds: Iterable[SeedRecord]
    ids: Mapping[str, str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[SeedRecord]:
        names = _Names(self.ids, frozenset(self.ids.values()))
        return (
            {
                **seed,
                "payload": {name: value for name, value in seed["payload"].items() if name in TOLD},
                "passages": [_passage(passage) for passage in seed["passages"]],
                "questions": [_question(question, seed, names) for question in seed["questions"]],
            }
            for seed in self.seeds
        )


def is_closed(corpus: Corpus) -> bool:
    """Return whether the corpus, or any document in it, must not be published."""
    return (
        corpus.licence_name.casefold() == CLOSED
        or corpus.articles.filter(document__licence__iexact=CLOSED).exists()
    )


def ids_by_title(corpus: Corpus) -> dict[str, str]:
    """Return the own ids of the corpus's documents that have one, by title."""
    rows = Document.objects.filter(corpus=corpus)
    return dict(rows.values_list("article__title", "external_id"))


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text in hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def _passage(passage: PassageRecord) -> PassageRecord:
    told: PassageRecord = {
        # As marks in it name it.
        "title": passage.get("document") or text_digest(passage["title"]),
        "section": "",
        "text": "",
        "links": [],
        "sha256": passage.get("sha256") or text_digest(passage["text"]),
        "n_characters": len(passage["text"]),
    }
    if "document" in passage:
        told["document"] = passage["document"]
    return told


def _question(question: QuestionRecord, seed: SeedRecord, of_corpus: _Names) -> QuestionRecord:
    passages = [*seed["passages"], *chain(*question.get("contexts", {}).values())]
    names = of_corpus.beside(passages)
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


def _vote(vote: VoteRecord, names: _Names) -> VoteRecord:
    return {**vote, "payload": _told(vote["payload"], names)}


def _told(payload: dict[str, Any], names: _Names) -> dict[str, Any]:
    """Return a payload without what was imported, and without text or titles of documents."""
    told = {name: _unmarked(value, names) for name, value in payload.items() if name != IMPORTED}
    if isinstance(links := told.get("links"), list):
        told["links"] = [names.told(each) for each in links]
    return told


def _unmarked(value: Any, names: _Names) -> Any:
    """Return a payload in which what is marked or was opened is told by its place alone."""
    if isinstance(value, list):
        return [_unmarked(each, names) for each in value]
    if isinstance(value, dict):
        told = {name: _unmarked(each, names) for name, each in value.items()}
        if "document" in told:
            # With its paragraph's number a document is named by its id, if it has one.
            told["document"] = names.told(told["document"], is_id="paragraph" in told)
        return {**told, "text": ""} if {"start", "end"} <= value.keys() else told
    return value
