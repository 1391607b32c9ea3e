"""Text HITs: workers read a passage and write a text about it, with whatever else is asked."""

from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from tasks.articles import Documents
from tasks.kinds.question import question_key, seeds_shown
from tasks.models import Exposure, Question, Submission, Unit, UnitItem, Worker
from tasks.passages import passage_of
from tasks.problems import Problem
from tasks.widgets import form
from tasks.widgets.form import share_done

__all__ = ["allowed", "clean", "limits", "page_items", "seeds_shown", "share_done", "store"]


def allowed(units: QuerySet[Unit], worker: Worker) -> QuerySet[Unit]:
    """Leave out units with a passage that the worker has seen with what others wrote about it."""
    shown = Exposure.objects.filter(worker=worker).exclude(kind="text").values("seed_id")
    return units.exclude(Exists(UnitItem.objects.filter(unit=OuterRef("pk"), seed_id__in=shown)))


def page_items(unit: Unit) -> list[dict[str, Any]]:
    """Return what the page shows: passages as plain text."""
    items = unit.items.select_related("seed").prefetch_related(
        "seed__seed_paragraphs__paragraph__article__corpus",
        "seed__seed_paragraphs__paragraph__section",
    )
    return [
        {"id": str(item.position), "passage": {**passage_of(item.the_seed()), "links": []}}
        for item in items
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
    lease = submission.lease
    stage = lease.unit.stage
    items = {str(item.position): item for item in lease.unit.items.select_related("seed")}
    for position, entry in enumerate(data["entries"]):
        seed = items[entry["item"]].the_seed()
        (_, written), *others = entry["fields"].items()
        Question.objects.create(
            stage=stage,
            submission=submission,
            position=position,
            seed=seed,
            worker_id=lease.worker_id,
            key=question_key(stage, seed, written),
            text=written,
            payload={"fields": dict(others)},
            synthetic=submission.synthetic,
            created_at=submission.received_at,
        )
