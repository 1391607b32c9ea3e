"""Pair answer HITs: other workers answer what was asked about two paragraphs, and prove it."""

import random
from typing import Any

from django.db.models import QuerySet

from tasks.kinds.answer import allowed as allowed_to_vote
from tasks.kinds.answer import questions_shown, seeds_shown, share_done, store_all
from tasks.kinds.pair import answer_payload
from tasks.models import Submission, Unit, Worker
from tasks.widgets import pairs
from tasks.widgets.problems import Problem
from tasks.work.articles import Documents
from tasks.work.passages import paragraphs_of

__all__ = ["allowed", "clean", "limits", "page_items", "seeds_shown", "share_done", "store"]


# The types that a requester can correct an answer of this kind to.
CORRECTIONS = ("span", "yes", "no")


def allowed(units: QuerySet[Unit], worker: Worker) -> QuerySet[Unit]:
    """Leave out units with a question the worker has written or has answered before."""
    return allowed_to_vote(units, worker)


def page_items(unit: Unit) -> list[dict[str, Any]]:
    """Return what the page shows: each question with its two paragraphs, in no telling order."""
    items = questions_shown(unit)
    shown = paragraphs_of(seed for _, seed, _, _ in items)
    found = []
    for item, seed, question, _ in items:
        paragraphs = list(shown[seed].paragraphs)
        random.Random(f"{unit.pk}:{item}").shuffle(paragraphs)
        found.append({"id": item, "question": question, "form": "any", "paragraphs": paragraphs})
    return found


def limits(table: Any, checks: Any) -> dict[str, int]:
    """Return the numbers the page counts against."""
    return {"pairs": table.items_per_hit, "max_answer_words": checks.max_answer_words}


def clean(
    data: object, items: list[dict[str, Any]], documents: Documents, table: Any, checks: Any
) -> tuple[dict[str, Any], list[Problem]]:
    """Return {"answers": […]}, one per question, and what is wrong."""
    return pairs.clean_answered(data, items, checks)


def store(submission: Submission, data: dict[str, Any]) -> None:
    """Write one row per answer; expects the transaction of the submission."""
    votes = [(given["item"], given["type"], answer_payload(given)) for given in data["answers"]]
    store_all(submission, votes)
