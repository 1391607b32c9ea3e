"""Label HITs: workers label what others wrote, by a form that the protocol gives as data."""

from typing import Any

from django.db.models import QuerySet

from tasks.kinds.answer import allowed as allowed_to_vote
from tasks.kinds.answer import questions_shown, seeds_shown, store_all
from tasks.kinds.text import limits
from tasks.models import Submission, Unit, Worker
from tasks.widgets import form
from tasks.widgets.form import share_done
from tasks.widgets.problems import Problem
from tasks.work.articles import Documents
from tasks.work.passages import passages_of

__all__ = ["allowed", "clean", "limits", "page_items", "seeds_shown", "share_done", "store"]


def allowed(units: QuerySet[Unit], worker: Worker) -> QuerySet[Unit]:
    """Leave out units with a text that the worker has written or has voted on before."""
    return allowed_to_vote(units, worker)


def page_items(unit: Unit) -> list[dict[str, Any]]:
    """Return what the page shows: each text with its passage, and never who wrote it."""
    items = questions_shown(unit)
    passages = passages_of(seed for _, seed, _, _ in items)
    return [
        {"id": item, "text": text, "passage": {**passages[seed], "links": []}}
        for item, seed, text, _ in items
    ]


def clean(
    data: object, items: list[dict[str, Any]], documents: Documents, table: Any, checks: Any
) -> tuple[dict[str, Any], list[Problem]]:
    """Return {"entries": […]}, one per text, and what is wrong."""
    return form.clean(data, items, table.fields)


def store(submission: Submission, data: dict[str, Any]) -> None:
    """Write one vote per text: its type is the label, the other fields stand beside it.

    A vote is a row of answers, so that agreement, review, release and the rule of one vote per
    person hold for labels as they do for answers. Expects the transaction of the submission.
    """
    votes = []
    for entry in data["entries"]:
        (_, label), *others = entry["fields"].items()
        votes.append((entry["item"], label, {"fields": dict(others)}))
    store_all(submission, votes)
