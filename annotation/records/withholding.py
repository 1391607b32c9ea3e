"""What a release leaves out: answers of withheld splits, and the text of closed documents."""

import hashlib
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

from annotation.records.schema import (
    IMPORTED,
    PassageRecord,
    QuestionRecord,
    SeedRecord,
    VoteRecord,
    is_kept,
)
from collector.ingest.licences import CLOSED
from collector.models import Corpus, Document

# Split -> names of the contexts that are published with its questions.
Withheld = Mapping[str, Sequence[str]]
NOTHING: Withheld = {}
CLOSED_NOTE = (
    "The documents are closed: no word of them is in this folder. A passage is told by its "
    "document's id and by the SHA-256 and the length of its text, what is marked in it by its "
    "offsets. Questions, and answers in people's own words, are as they wrote them.\n"
)
# What a seed's payload tells of its document in no word of it: its id and what kind it is.
KEPT_NAMES = ("document_id", "kind")
# How marks name what is read beside documents of their own title.
PLACES = ("main", "question", "section")


class Told(NamedTuple):
    """A question of which a release tells: by stage and key, with its split and why it is there.

    split: blank of one that is left out of the dataset, whose votes are told.
    """

    stage: str
    key: str
    split: str
    reason: str


def public_records(seeds: Iterable[SeedRecord], withheld: Withheld) -> Iterator[SeedRecord]:
    """Yield the seeds that may be known, without the questions of withheld splits.

    A seed of such a question is not told at all, nor is what was asked about it and left out;
    unless a question about it is in the open anyway.
    """
    for seed in seeds:
        in_the_open, _ = _parted(seed, withheld)
        if in_the_open or not seed["questions"]:
            yield {**seed, "questions": in_the_open}


def withheld_records(seeds: Iterable[SeedRecord], withheld: Withheld) -> Iterator[SeedRecord]:
    """Yield what `public_records` leaves out."""
    for seed in seeds:
        _, kept_back = _parted(seed, withheld)
        if kept_back:
            yield {**seed, "questions": kept_back}


def told_by(seeds: Iterable[SeedRecord], withheld: Withheld) -> Iterator[Told]:
    """Yield every question of which a release tells, be it without its answers."""
    for seed in seeds:
        in_the_open, kept_back = _parted(seed, withheld)
        asked = (each for each in kept_back if is_kept(each) and each["split"] in withheld)
        for each in (*in_the_open, *asked):
            split = (is_kept(each) and each["split"]) or ""
            yield Told(each["stage"], each["key"], split, each.get("split_reason", ""))


def questions_alone(seeds: Iterable[SeedRecord], contexts: Sequence[str]) -> Iterator[SeedRecord]:
    """Yield the seeds of a withheld split as they are published: questions with these contexts.

    Of a question that was read from a published file, IMPORTED holds what was published.
    """
    for seed in seeds:
        yield {
            "id": "",
            "key": "",
            "fold": "",
            "payload": {},
            "passages": [],
            "questions": [_asked(question, contexts) for question in seed["questions"]],
        }


def _asked(question: QuestionRecord, contexts: Sequence[str]) -> QuestionRecord:
    payload, given = question["payload"], question.get("contexts", {})
    return {
        "id": question["id"],
        "key": "",
        "text": question["text"],
        "payload": {name: payload[name] for name in (IMPORTED,) if name in payload},
        "stage": question["stage"],
        "worker": None,
        "synthetic": question["synthetic"],
        "verdict": None,
        "split": question["split"],
        "votes": [],
        "contexts": {name: given[name] for name in contexts if name in given},
    }


def _parted(
    seed: SeedRecord, withheld: Withheld
) -> tuple[list[QuestionRecord], list[QuestionRecord]]:
    """Return the questions about the seed that may be known, and those that may not."""
    kept_back = [each for each in seed["questions"] if _may_test(each, withheld)]
    in_the_open = [each for each in seed["questions"] if not _may_test(each, withheld)]
    if kept_back and not any(each["split"] for each in in_the_open):
        return [], seed["questions"]
    return in_the_open, kept_back


def _may_test(question: QuestionRecord, withheld: Withheld) -> bool:
    """Return whether the question is in a withheld split, or was kept since splits were made."""
    if question["split"] or not withheld:
        return question["split"] in withheld
    verdict = question["verdict"]
    return verdict is not None and verdict["outcome"] == "kept"


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
                "payload": {
                    name: value for name, value in seed["payload"].items() if name in KEPT_NAMES
                },
                "passages": [_passage(passage) for passage in seed["passages"]],
                "questions": [
                    _without_text(question, seed, names) for question in seed["questions"]
                ],
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


def _without_text(question: QuestionRecord, seed: SeedRecord, of_corpus: _Names) -> QuestionRecord:
    passages = [*seed["passages"], *chain(*question.get("contexts", {}).values())]
    names = of_corpus.beside(passages)
    told: QuestionRecord = {
        **question,
        "payload": _names_told(question["payload"], names),
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
    return {**vote, "payload": _names_told(vote["payload"], names)}


def _names_told(payload: dict[str, Any], names: _Names) -> dict[str, Any]:
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
