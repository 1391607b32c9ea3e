"""Answer HITs: workers open linked articles and answer what others asked."""

from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from tasks.articles import Documents
from tasks.kinds import listed
from tasks.models import Answer, Submission, Unit, UnitItem, Worker
from tasks.passages import passage_of, readable_titles
from tasks.problems import Problem
from tasks.widgets import answer


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
    items = unit.items.select_related("question__seed").prefetch_related(
        "question__seed__seed_paragraphs__paragraph__article__corpus",
        "question__seed__seed_paragraphs__paragraph__section",
    )
    shown = [(item, passage_of(item.the_question().seed)) for item in items]
    titles = {link["title"] for _, passage in shown for link in passage["links"]}
    readable = readable_titles(unit.stage.collection.corpus, titles)
    return [
        {
            "id": str(item.position),
            "question": item.the_question().text,
            "passage": {
                **passage,
                "links": [
                    {**link, "readable": link["title"] in readable} for link in passage["links"]
                ],
            },
            "writer_context": item.the_question().payload["context"],
            "writer_links": item.the_question().payload["links"],
        }
        for item, passage in shown
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
    lease = submission.lease
    items = {str(item.position): item for item in lease.unit.items.select_related("question")}
    Answer.objects.bulk_create(
        Answer(
            question=items[given["item"]].question,
            stage=lease.unit.stage,
            submission=submission,
            worker_id=lease.worker_id,
            writer_id=items[given["item"]].the_question().worker_id,
            type=given["type"],
            payload={name: value for name, value in given.items() if name not in ("item", "type")},
            synthetic=submission.synthetic,
            created_at=submission.received_at,
        )
        for given in data["answers"]
    )
