"""The official layout, written and read back: one file per part, one object per dialog."""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from annotation.protocols.quac.file_format import (
    AFFIRMATION,
    CANNOT_ANSWER,
    CONTINUATION,
    FILES,
    context_of,
    question_id,
    section_id,
    seed_records,
    split_of,
)
from annotation.records.parquet_tables import INTEGER, Column
from annotation.records.schema import (
    IMPORTED,
    ArticleRecord,
    Published,
    QuestionRecord,
    SeedRecord,
    VoteRecord,
    chosen_vote,
    released_votes,
)
from tasks.work.passages import section_text

SPLITS = tuple(FILES)
QUESTION_COLUMNS = {
    "dialog_id": Column("the id of the dialog the question is a turn of"),
    "turn": Column("the number of the turn, from 0", INTEGER),
    "background": Column("the first paragraph of the article, which both sides saw"),
    "context": Column("the section the teacher saw, into which the answer's offsets point"),
    "affirmation": Column("whether the answer says yes, no or neither"),
    "continuation": Column("whether the teacher asked to follow up: follow_up, maybe or dont"),
}


def identified(seeds: Iterable[SeedRecord]) -> Iterator[SeedRecord]:
    """Yield the seeds with the ids they are released under, set from their content alone.

    The dialogs about one section are numbered in the order they began, kept or not, and their
    questions stand in the order they were asked. Published files keep their own ids.
    """
    for seed in seeds:
        if IMPORTED in seed["payload"]:
            yield {**seed, "questions": [_with_own_id(question) for question in seed["questions"]]}
            continue
        section = seed["passages"][-1]
        shared = section_id(section["title"], section["section"], seed_text(seed))
        questions: list[QuestionRecord] = [
            {**question, "id": question_id(f"{shared}_{dialog}", turn)}
            for question in sorted(seed["questions"], key=_place)
            for dialog, turn in [_place(question)]
        ]
        yield {**seed, "id": shared, "questions": questions}


def files(
    seeds_by_split: Mapping[str, Iterable[SeedRecord]], articles: Iterable[ArticleRecord] | None
) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield each official file's name with its bytes in pieces, to be consumed in this order.

    seeds_by_split: with the ids of `identified` and the kept questions alone. articles: there is
    no file of them. Raises ValueError naming the question for a false offset.
    """
    for split, seeds in seeds_by_split.items():
        yield FILES[split], _file(seeds)


def published(files: Mapping[str, bytes]) -> Published:
    """Return official files as records; raises LayoutError naming the file and the place."""
    return Published({name: split_of(name) for name in files}, seed_records(files), None)


def answering(question: QuestionRecord) -> list[VoteRecord]:
    """Return the released answer, then everybody's: whoever differs is a reference too (QuAC 2.2).

    What a simulated worker has added to people's work is not among them.
    """
    released = chosen_vote(question)
    if released is None:
        return []
    return [released, *(vote for vote in released_votes(question) if vote is not released)]


def question_columns(seed: SeedRecord, question: QuestionRecord) -> dict[str, object]:
    """Return what a question's row holds beside what it holds in every protocol."""
    released = chosen_vote(question)
    hints = [vote["payload"].get("continuation") for vote in question["votes"]]
    is_read = IMPORTED in seed["payload"]
    return {
        "dialog_id": question["id"].rpartition("_q#")[0],
        "turn": _place(question)[1],
        "background": seed["payload"]["background"] if is_read else seed["passages"][0]["text"],
        "context": context_of(seed_text(seed)),
        "affirmation": released["payload"].get("affirmation") if released else None,
        "continuation": next((hint for hint in hints if hint), None),
    }


def seed_text(seed: SeedRecord) -> str:
    """Return the section's text: the paragraphs of the section, a blank between them.

    The first passage of a seed collected here is the article's first paragraph, the background.
    """
    return section_text([passage["text"] for passage in seed["passages"]])


def _file(seeds: Iterable[SeedRecord]) -> Iterator[bytes]:
    """Yield the object with its list of sections, one a line."""
    yield b'{"data": ['
    began = False
    for seed in seeds:
        for section in _sections(seed):
            yield (b",\n" if began else b"\n") + json.dumps(section, ensure_ascii=False).encode()
            began = True
    yield b"\n]}\n"


def _sections(seed: SeedRecord) -> Iterator[dict[str, Any]]:
    """Yield the objects of a section: one per dialog, as in the published files."""
    if IMPORTED in seed["payload"]:
        yield _as_published(seed)
        return
    background, section = seed["passages"][0], seed["passages"][-1]
    context = context_of(seed_text(seed))
    for _, group in groupby(seed["questions"], key=lambda question: _place(question)[0]):
        questions = list(group)
        yield {
            "title": section["title"],
            "background": background["text"],
            "section_title": section["section"],
            "paragraphs": [
                {
                    "context": context,
                    "id": questions[0]["id"].rpartition("_q#")[0],
                    "qas": [_question(question, context) for question in questions],
                }
            ],
        }


def _question(question: QuestionRecord, context: str) -> dict[str, Any]:
    """Return a question with the released answer last among all references, as published.

    It is the teacher's, unless a requester has chosen another; whether to follow up only the
    teacher says. Raises ValueError naming the question when no answer was chosen, when it has no
    teacher's, or when an offset is false.
    """
    released = chosen_vote(question)
    hints = [vote["payload"].get("continuation") for vote in question["votes"]]
    hint = next((hint for hint in hints if hint), None)
    if released is None or hint is None:
        raise ValueError(f"Question {question['id']} is kept without an answer: decide it again.")
    _, *others = answering(question)
    return {
        "id": question["id"],
        "question": question["text"],
        "answers": [_answer(vote, question, context) for vote in (*others, released)],
        "orig_answer": _answer(released, question, context),
        "yesno": AFFIRMATION[released["payload"]["affirmation"]],
        "followup": CONTINUATION[hint],
    }


def _answer(vote: VoteRecord, question: QuestionRecord, context: str) -> dict[str, Any]:
    if vote["type"] == "none":
        return {"text": CANNOT_ANSWER, "answer_start": len(context) - len(CANNOT_ANSWER)}
    span = vote["payload"]["spans"][0]
    if context[span["start"] : span["end"]] != span["text"]:
        raise ValueError(
            f"Question {question['id']}: {span['start']}:{span['end']} of the section is not "
            f"{span['text']!r}. Offsets are half-open, in code points."
        )
    return {"text": span["text"], "answer_start": span["start"]}


def _as_published(seed: SeedRecord) -> dict[str, Any]:
    """Return an imported section as it came, with those of its questions that are kept."""
    section: dict[str, Any] = json.loads(seed["payload"][IMPORTED])
    for question in seed["questions"]:
        payload = question["payload"]
        section["paragraphs"][payload["dialog"]]["qas"].append(json.loads(payload[IMPORTED]))
    return section


def _with_own_id(question: QuestionRecord) -> QuestionRecord:
    return {**question, "id": json.loads(question["payload"][IMPORTED])["id"]}


def _place(question: QuestionRecord) -> tuple[int, int]:
    """Return the number of the dialog about its section, and the turn."""
    return question["payload"]["dialog"], question["payload"]["turn"]
