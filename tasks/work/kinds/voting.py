"""What the kinds share whose workers answer or judge questions, and an answer in words."""

from collections.abc import Mapping, Sequence
from typing import TypedDict, cast

import orjson
from django.db.models import Exists, OuterRef, QuerySet

from common.committed_cache import kept_once_committed
from common.prepared_sql import execute, insert_all
from tasks.models import Answer, Question, Submission, Unit, UnitItem, Worker
from tasks.work.kinds.kind import Data, StageKind, entries_of
from tasks.work.kinds.writing import shared_values

SHOWN = """
SELECT item.position, question.seed_id, question.text, question.payload
FROM tasks_unititem item JOIN tasks_question question ON question.id = item.question_id
WHERE item.unit_id = %s ORDER BY item.position
"""
WRITTEN = """
SELECT item.position, question.id, question.worker_id
FROM tasks_unititem item JOIN tasks_question question ON question.id = item.question_id
WHERE item.unit_id = %s
"""
# The type of an answer in free words; the words stand in its fields.
WORDS = "words"
TYPES = {
    "span": "Words from a text",
    "value": "Number",
    "binary": "Yes or no",
    "none": "No answer",
    "answer": "An answer with evidence",
    "bad": "Bad question",
    WORDS: "In free words",
}


class CleanedAnswer(TypedDict):
    """What every cleaned answer has; what its type adds stands beside it."""

    item: str
    type: str


class VotingKind(StageKind):
    """A kind whose workers give one vote on each question of their unit."""

    def allowed(self, units: QuerySet[Unit], worker: Worker) -> QuerySet[Unit]:
        """Leave out units with a question the worker has written or has voted on before."""
        items = UnitItem.objects.filter(unit=OuterRef("pk"))
        return units.exclude(Exists(items.filter(question__worker=worker))).exclude(
            Exists(items.filter(question__answers__worker=worker))
        )

    def seeds_shown(self, unit: Unit) -> list[int]:
        """Return the ids of the seeds whose questions the unit shows."""
        return list(unit.items.values_list("question__seed_id", flat=True).distinct())

    def parts_done(self, data: Mapping[str, object]) -> int:
        """Return how many answers of a draft have a type."""
        return sum(bool(answer.get("type")) for answer in entries_of(data, "answers"))

    def store(self, submission: Submission, data: Data) -> None:
        """Write {"answers": […]} as rows, what a type adds as payload; expects the transaction."""
        votes = []
        for given in cast(Sequence[CleanedAnswer], data["answers"]):
            rest = {name: value for name, value in given.items() if name not in ("item", "type")}
            votes.append((given["item"], given["type"], rest))
        store_votes(submission, votes)


def questions_shown(unit: Unit) -> list[tuple[str, int, str, dict[str, object]]]:
    """Return (item id, seed id, text, payload) of the unit's questions, in order."""
    return [
        (str(position), seed, text, orjson.loads(payload))
        for position, seed, text, payload in execute(SHOWN, [unit.pk])
    ]


def store_votes(
    submission: Submission, votes: Sequence[tuple[str, str, Mapping[str, object]]]
) -> None:
    """Write (item id, type, payload) as rows, in order; expects the submission's transaction."""
    written = _written(submission.lease.unit_id)
    insert_all(
        Answer,
        shared_values(submission),
        [
            {
                "question_id": written[item][0],
                "writer_id": written[item][1],
                "type": kind,
                "payload": payload,
            }
            for item, kind, payload in votes
        ],
    )


@kept_once_committed(1024)
def _written(unit_id: int) -> dict[str, tuple[int, str | None]]:
    """Return the ids of each item's question and of its writer, by the item's id on the page."""
    return {
        str(position): (question, writer)
        for position, question, writer in execute(WRITTEN, [unit_id])
    }


def type_words(name: str) -> str:
    """Return what to call a type of answer."""
    return TYPES.get(name, name.replace("_", " ").capitalize())


def written_beside(question: Question) -> list[tuple[str, str]]:
    """Return what the question's writer filled in beside it, by the name of the field."""
    given = (question.payload.get("fields") or {}).items()
    return [(name.replace("_", " ").capitalize(), str(words)) for name, words in given if words]


def answer_text(answer: Answer) -> str:
    """Return the answer in one line."""
    payload = answer.payload
    if answer.type == "span":
        return "; ".join(span["text"] for span in payload.get("spans") or ())
    if answer.type == "value":
        return f"{payload.get('value', '')} {payload.get('unit') or ''}".strip()
    if answer.type == "binary":
        return str(payload.get("yes_no") or "").capitalize()
    if answer.type == "none" and payload.get("plausible"):
        words = "; ".join(span["text"] for span in payload["plausible"])
        return f"None, though it looks like “{words}”"
    if answer.type == "answer":
        return " – ".join(words for name in ("short", "full") if (words := payload.get(name)))
    if answer.type == "bad":
        return str(payload.get("reason") or "")
    given = {name: value for name, value in (payload.get("fields") or {}).items() if value}
    if answer.type == WORDS and len(given) == 1:
        # They are the answer itself, not something beside it.
        return str(*given.values())
    return "; ".join(f"{name.replace('_', ' ')}: {value}" for name, value in given.items())
