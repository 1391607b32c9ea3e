"""Turns records of a release into the tree that the official files are written from."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from annotation.protocols.iirc.dataset_tree import (
    QUESTION,
    Answer,
    Article,
    Link,
    Passage,
    Question,
    Span,
    passage_id,
    question_id,
)
from annotation.records.schema import (
    IMPORTED,
    ArticleRecord,
    QuestionRecord,
    SeedRecord,
    VoteRecord,
    chosen_vote,
    number,
)


def identified(seeds: Iterable[SeedRecord]) -> Iterator[SeedRecord]:
    """Yield the seeds with the ids they are released under, set from their content alone.

    Every question counts, kept or not, so that no verdict changes the id of another question.
    Published files keep their own ids.
    """
    passages: Counter[str] = Counter()
    for seed in seeds:
        first = seed["passages"][0]
        plain = passage_id(first["title"], first["text"])
        pid = passage_id(first["title"], first["text"], passages[plain])
        passages[plain] += 1
        questions: list[QuestionRecord] = []
        taken: set[tuple[str, int]] = set()
        for question in seed["questions"]:
            text = question["text"]
            qid = question_id(pid, text, number(question, text, taken, of_seed=True))
            own = imported(question["payload"]) or {}
            questions.append({**question, "id": own.get("qid") or qid})
        own = imported(seed["payload"]) or {}
        yield {**seed, "id": own.get("pid") or pid, "questions": questions}


def passages(seeds: Iterable[SeedRecord]) -> Iterator[Passage]:
    """Yield the passage of each seed with its questions; expects ids from `identified`."""
    for seed in seeds:
        passage = seed["passages"][0]
        yield Passage(
            pid=seed["id"],
            title=passage["title"],
            text=passage["text"],
            links=tuple(
                Link(target, start, end)
                for start, end, target in sorted(passage["links"], key=lambda link: link[:2])
            ),
            questions=tuple(_question(question) for question in seed["questions"]),
            imported=imported(seed["payload"]),
        )


def articles(records: Iterable[ArticleRecord]) -> Iterator[Article]:
    """Yield the linked articles."""
    for record in records:
        links = tuple(Link(target, start, end) for start, end, target in record["links"])
        yield Article(record["title"], record["text"], links, record["imported"])


def imported(payload: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the published file's own object, None for what was collected here."""
    text = payload.get(IMPORTED)
    return None if text is None else json.loads(text)


def _question(question: QuestionRecord) -> Question:
    """Return a kept question; raises ValueError naming it when no answer was chosen."""
    vote = chosen_vote(question)
    if vote is None:
        raise ValueError(f"Question {question['id']} is kept without an answer: decide it again.")
    return Question(
        qid=question["id"],
        text=question["text"],
        question_links=tuple(question["payload"].get("links", ())),
        # The question itself proves nothing; readers of the files know no such document.
        evidence=tuple(span for span in _spans(vote, "context") if span.passage != QUESTION),
        answer=_answer(vote),
        imported=imported(question["payload"]),
    )


def _answer(vote: VoteRecord) -> Answer:
    payload = vote["payload"]
    binary = vote["type"] == "binary"
    return Answer(
        type=vote["type"],
        spans=_spans(vote, "spans"),
        value=(payload.get("yes_no") if binary else payload.get("value")) or "",
        unit=payload.get("unit") or "",
    )


def _spans(vote: VoteRecord, name: str) -> tuple[Span, ...]:
    return tuple(
        Span(span["document"], span["text"], span["start"], span["end"])
        for span in vote["payload"].get(name) or ()
    )
