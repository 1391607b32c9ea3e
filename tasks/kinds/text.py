"""Text HITs: workers read a passage and write a text about it, with whatever else is asked."""

from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from tasks.kinds.question import seeds_of, seeds_shown, store_all
from tasks.models import Exposure, Submission, Unit, UnitItem, Worker
from tasks.widgets import form
from tasks.widgets.form import share_done
from tasks.widgets.problems import Problem
from tasks.work.articles import Documents
from tasks.work.passages import passages_of

__all__ = ["allowed", "clean", "limits", "page_items", "seeds_shown", "share_done", "store"]


def allowed(units: QuerySet[Unit], worker: Worker) -> QuerySet[Unit]:
    """Leave out units with a passage that the worker has seen with what others wrote about it."""
    shown = Exposure.objects.filter(worker=worker).exclude(kind="text").values("seed_id")
    return units.exclude(Exists(UnitItem.objects.filter(unit=OuterRef("pk"), seed_id__in=shown)))


def page_items(unit: Unit) -> list[dict[str, Any]]:
    """Return what the page shows: passages as plain text."""
    seeds = seeds_of(unit.pk)
    passages = passages_of(seed for seed, _ in seeds.values())
    return [
        {"id": item, "passage": {**passages[seed], "links": []}}
        for item, (seed, _) in seeds.items()
    ]


def limits(table: Any, checks: Any) -> dict[str, Any]:
    """Return the form's fields, and how many items there are to fill it in for."""
    return {"items": table.items_per_hit, "fields": table.model_dump()["fields"]}


def clean(
    data: object, items: list[dict[str, Any]], documents: Documents, table: Any, checks: Any
) -> tuple[dict[str, Any], list[Problem]]:
    """Return {"entries": […]}, one per passage, and what is wrong."""
    return form.clean(data, items, table.fields)


def store(submission: Submission, data: dict[str, Any]) -> None:
    """Write one row per text, the other fields beside it; expects the submission's transaction."""
    written = []
    for entry in data["entries"]:
        (_, text), *others = entry["fields"].items()
        written.append((entry["item"], text, {"fields": dict(others)}))
    store_all(submission, written)
