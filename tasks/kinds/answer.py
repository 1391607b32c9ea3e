"""Answer HITs: workers open linked articles and answer what others asked."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import orjson
from django.db.models import Exists, OuterRef, QuerySet

from tasks.kinds import listed
from tasks.models import Answer, Submission, Unit, UnitItem, Worker
from tasks.statements import insert_all, rows
from tasks.widgets import answer
from tasks.widgets.problems import Problem
from tasks.work.articles import Documents
from tasks.work.passages import passages_of, readable_titles

# The types that a requester can correct an answer of this kind to.
CORRECTIONS = ("span", "value", "binary", "none")

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


def allowed(units: QuerySet[Unit], worker: Worker) -> QuerySet[Unit]:
    """Leave out units with a question the worker has written or has answered before."""
    items = UnitItem.objects.filter(unit=OuterRef("pk"))
    return units.exclude(Exists(items.filter(question__worker=worker))).exclude(
        Exists(items.filter(question__answers__worker=worker))
    )


def seeds_shown(unit: Unit) -> list[int]:
    """Return the ids of the seeds whose questions the unit shows."""
    return list(unit.items.values_list("question__seed_id", flat=True).distinct())


def page_items(unit: Unit) -> list[dict[str, Any]]:
    """Return what the page shows: each question with its passage, evidence and links."""
    items = questions_shown(unit)
    passages = passages_of(seed for _, seed, _, _ in items)
    titles = {link["title"] for passage in passages.values() for link in passage["links"]}
    readable = readable_titles(unit.stage.collection.corpus_id, titles)
    for passage in passages.values():
        for link in passage["links"]:
            link["readable"] = link["title"] in readable
    return [
        {
            "id": item,
            "question": text,
            "passage": passages[seed],
            "writer_context": payload["context"],
            "writer_links": payload["links"],
        }
        for item, seed, text, payload in items
    ]


def questions_shown(unit: Unit) -> list[tuple[str, int, str, dict[str, Any]]]:
    """Return (item id, seed id, text, payload) of the unit's questions, in order."""
    return [
        (str(position), seed, text, orjson.loads(payload))
        for position, seed, text, payload in rows(SHOWN, unit.pk)
    ]


def limits(table: Any, checks: Any) -> dict[str, int]:
    """Return the numbers the page counts against."""
    return {"questions": table.items_per_hit, "max_reason_characters": checks.max_reason_characters}


def clean(
    data: object, items: list[dict[str, Any]], documents: Documents, table: Any, checks: Any
) -> tuple[dict[str, Any], list[Problem]]:
    """Return {"answers": […]}, one per item, with every span proven, and what is wrong."""
    return answer.clean_all(
        data, items, documents, most_reason_characters=checks.max_reason_characters
    )


def share_done(data: dict[str, Any], wanted: int) -> float:
    """Return how much of the work a draft holds, from 0 to 1."""
    given = [
        entry
        for entry in listed(data.get("answers"))
        if isinstance(entry, dict) and entry.get("type")
    ]
    return min(1.0, len(given) / wanted)


def store(submission: Submission, data: dict[str, Any]) -> None:
    """Write one row per answer; expects the transaction of the submission."""
    votes = []
    for given in data["answers"]:
        rest = {name: value for name, value in given.items() if name not in ("item", "type")}
        votes.append((given["item"], given["type"], rest))
    store_all(submission, votes)


def store_all(submission: Submission, votes: Sequence[tuple[str, str, dict[str, Any]]]) -> None:
    """Write (item id, type, payload) as rows, in order; expects the submission's transaction."""
    lease = submission.lease
    written = _written(lease.unit_id)
    shared = {
        "stage_id": lease.unit.stage_id,
        "submission_id": submission.pk,
        "worker_id": lease.worker_id,
        "synthetic": submission.synthetic,
        "created_at": submission.received_at,
    }
    insert_all(
        Answer,
        shared,
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


@lru_cache(maxsize=1024)
def _written(unit_id: int) -> dict[str, tuple[int, str | None]]:
    """Return the ids of each item's question and of its writer, by the item's id on the page."""
    return {
        str(position): (question, writer) for position, question, writer in rows(WRITTEN, unit_id)
    }
