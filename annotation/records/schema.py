"""What a protocol is handed of the rows, and hands back when it reads official files.

Plain values, in the order of the seeds, then of the questions as written, then of the votes as
submitted. People are pseudonyms; there are no row ids and no clock times. Offsets are half-open,
in code points.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

# The key of a payload with a published file's own object, as JSON text: a database that stores
# JSON as values would lose the order of keys and change large numbers.
IMPORTED = "imported"


class PassageRecord(TypedDict):
    """One paragraph. `links`: [start, end, target title] into `text`. `position`: in its article.

    `sentences`: [start, end] of each without the blanks around it, where they were looked for.
    Of a requester's own document there are `document`, its id, its `licence`, and `pages`: [start,
    number] where each page begins, if it has pages. Where the text is not told, `sha256` and
    `n_characters` are those of what it is.
    """

    title: str
    section: str
    text: str
    links: list[tuple[int, int, str]]
    position: NotRequired[int]
    sentences: NotRequired[list[tuple[int, int]]]
    language: NotRequired[str]
    revision_id: NotRequired[int]
    permalink: NotRequired[str]
    document: NotRequired[str]
    licence: NotRequired[str]
    pages: NotRequired[list[tuple[int, int]]]
    sha256: NotRequired[str]
    n_characters: NotRequired[int]


class VoteRecord(TypedDict):
    """One answer. `hit_seconds`: active time of the whole HIT, which held `hit_items` items.

    `synthetic_fields`: names of what a replay made up beside what the person said; the payload is
    without it.
    """

    stage: str
    worker: str | None
    type: str
    payload: dict[str, Any]
    hit_seconds: int | None
    hit_items: int | None
    synthetic: bool
    chosen: bool
    agrees: bool
    synthetic_fields: NotRequired[list[str]]


class VerdictRecord(TypedDict):
    """The verdict: outcome kept, dropped or waiting, with the protocol's reason."""

    outcome: str
    reason: str
    sentence: str
    overridden: bool


# Of a question that was read from published files.
PUBLISHED: VerdictRecord = {
    "outcome": "kept",
    "reason": "published",
    "sentence": "It is in the published files.",
    "overridden": False,
}


def published_vote(
    type: str, payload: dict[str, Any], *, stage: str = "", chosen: bool = True, agrees: bool = True
) -> VoteRecord:
    """Return an answer that was read from published files, which tell nothing of who gave it."""
    return {
        "stage": stage,
        "worker": None,
        "type": type,
        "payload": payload,
        "hit_seconds": None,
        "hit_items": None,
        "synthetic": False,
        "chosen": chosen,
        "agrees": agrees,
    }


class RanksRecord(TypedDict):
    """Where retrieval over a whole corpus found what answers a question, ranks from 1.

    `gold`: of each passage of the seed, pool + 1 where it was not found; `answer`: of the one that
    holds the answer, None where there is none to hold it.
    """

    pool: int
    gold: list[int]
    answer: int | None


class QuestionRecord(TypedDict):
    """One question with every vote. `id` is the released id, `split` set only once placed.

    `correction`: the answer that a requester released in place of the votes, where one did.
    `label_decisions`: the labels that a requester decided on, by the stage of labels.
    `contexts`: what a system reads to answer it, in order, by the name of the setting.
    `asked_before`: how many questions of its stage in the same words were handed in before it,
    about its seed and about any, those of people who have withdrawn among them; none without it.
    """

    id: str
    key: str
    text: str
    payload: dict[str, Any]
    stage: str
    worker: str | None
    synthetic: bool
    verdict: VerdictRecord | None
    split: str | None
    votes: list[VoteRecord]
    correction: NotRequired[VoteRecord]
    label_decisions: NotRequired[dict[str, VoteRecord]]
    split_reason: NotRequired[str]
    contexts: NotRequired[dict[str, list[PassageRecord]]]
    ranks: NotRequired[RanksRecord]
    asked_before: NotRequired[tuple[int, int]]


class SeedRecord(TypedDict):
    """What a worker started from, with the questions asked about it.

    `skips`: how many workers could make nothing of it, in stages where that can be said.
    """

    id: str
    key: str
    fold: str
    payload: dict[str, Any]
    passages: list[PassageRecord]
    questions: list[QuestionRecord]
    skips: NotRequired[int]


class ArticleRecord(TypedDict):
    """The text behind a link. `title`: as the link names it; `links`: into `text`.

    `imported`: the official file's own form of the text, to be written back as it is. `passages`:
    its paragraphs, where a protocol asks for the whole corpus.
    """

    title: str
    text: str
    links: list[tuple[int, int, str]]
    imported: str | None
    passages: NotRequired[list[PassageRecord]]
    article: NotRequired[str]
    revision_id: NotRequired[int]
    permalink: NotRequired[str]


@dataclass(frozen=True)
class Published:
    """What official files hold: the split of each file (blank: no questions), seeds, articles.

    articles: None where no file of them was given.
    """

    splits: Mapping[str, str]
    seeds: Iterable[SeedRecord]
    articles: Iterable[ArticleRecord] | None


def released_votes(question: QuestionRecord) -> list[VoteRecord]:
    """Return the votes that count beside the question: what people asked, only people answer."""
    return [vote for vote in question["votes"] if vote["synthetic"] <= question["synthetic"]]


def peoples_votes(question: QuestionRecord) -> list[VoteRecord]:
    """Return the votes that tell of people: none on a question that a simulated worker made."""
    return [] if question["synthetic"] else released_votes(question)


def label_decision(question: QuestionRecord, stage: str) -> VoteRecord | None:
    """Return what a requester decided on the labels of a stage, None where votes alone count."""
    return question.get("label_decisions", {}).get(stage)


def is_simulated(question: QuestionRecord) -> bool:
    """Return whether a simulated worker made the question or the answer that is released."""
    released = chosen_vote(question)
    return question["synthetic"] or (released is not None and released["synthetic"])


def is_kept(question: QuestionRecord) -> bool:
    """Return whether the question is in the dataset."""
    return question["verdict"] is not None and question["verdict"]["outcome"] == "kept"


def chosen_vote(question: QuestionRecord) -> VoteRecord | None:
    """Return the answer that is released, a vote or its correction; None where none is."""
    return question.get("correction") or next(
        (vote for vote in question["votes"] if vote["chosen"]), None
    )


def answering(question: QuestionRecord) -> list[VoteRecord]:
    """Return the answers that count: the released one, then those that agree with it.

    What a requester put in place of the votes stands alone.
    """
    released = chosen_vote(question)
    if released is None or "correction" in question:
        return [released] if released else []
    others = [vote for vote in released_votes(question) if vote["agrees"] and not vote["chosen"]]
    return [released, *others]


def number(
    question: QuestionRecord, content: str, taken: set[tuple[str, int]], *, of_seed: bool
) -> int:
    """Return the number of a question among those of equal content, and add it to `taken`.

    It is how many were handed in before it, so that no verdict, no later question and nobody who
    withdraws changes it. content: all else that the id follows from. of_seed: whether that tells
    the seed, so that questions about others do not count. Of a record that is of no row, and where
    two seeds are the same, it is the first that is free.
    """
    about_seed, about_any = question.get("asked_before", (0, 0))
    found = about_seed if of_seed else about_any
    while (content, found) in taken:
        found += 1
    taken.add((content, found))
    return found
