"""Question HITs: workers read seeds and write questions about them."""

from typing import Any
from uuid import NAMESPACE_URL, uuid5

from django.db.models import Exists, OuterRef, QuerySet

from collector.models import Seed, Stage
from tasks.articles import Documents
from tasks.kinds import listed
from tasks.models import Exposure, Question, Submission, Unit, UnitItem, Worker
from tasks.passages import passage_of
from tasks.problems import Problem
from tasks.widgets import questions


def allowed(units: QuerySet[Unit], worker: Worker) -> QuerySet[Unit]:
    """Leave out units with a paragraph whose answers the worker has been shown."""
    shown = Exposure.objects.filter(worker=worker, kind="answer").values("seed_id")
    return units.exclude(Exists(UnitItem.objects.filter(unit=OuterRef("pk"), seed_id__in=shown)))


def seeds_shown(unit: Unit) -> list[int]:
    """Return the ids of the seeds that the unit shows."""
    return list(unit.items.values_list("seed_id", flat=True))


def page_items(unit: Unit) -> list[dict[str, Any]]:
    """Return what the page shows: passages with the titles of their links, never their text."""
    items = unit.items.select_related("seed").prefetch_related(
        "seed__seed_paragraphs__paragraph__article__corpus",
        "seed__seed_paragraphs__paragraph__section",
    )
    return [{"id": str(item.position), **passage_of(item.the_seed())} for item in items]


def limits(table: Any, checks: Any) -> dict[str, int]:
    """Return the numbers the page counts against."""
    return {
        "questions": table.questions_per_hit,
        "multi_link_questions": table.multi_link_questions,
        "multi_link_min_links": table.multi_link_min_links,
        "max_question_characters": checks.max_question_characters,
    }


def clean(
    data: object, items: list[dict[str, Any]], documents: Documents, table: Any, checks: Any
) -> tuple[dict[str, Any], list[Problem]]:
    """Return {"questions": […]} with every offset and title proven, and what is wrong."""
    return questions.clean(
        data,
        items,
        most_questions=table.questions_per_hit,
        most_characters=checks.max_question_characters,
    )


def share_done(data: dict[str, Any], wanted: int) -> float:
    """Return how much of the work a draft holds, from 0 to 1."""
    written = [
        question
        for question in listed(data.get("questions"))
        if isinstance(question, dict) and str(question.get("text", "")).strip()
    ]
    return min(1.0, len(written) / wanted)


def store(submission: Submission, data: dict[str, Any]) -> None:
    """Write one row per question; expects the transaction of the submission."""
    lease = submission.lease
    stage = lease.unit.stage
    items = {str(item.position): item for item in lease.unit.items.select_related("seed")}
    for position, question in enumerate(data["questions"]):
        seed = items[question["item"]].the_seed()
        Question.objects.create(
            stage=stage,
            submission=submission,
            position=position,
            seed=seed,
            worker_id=lease.worker_id,
            key=question_key(stage, seed, question["text"]),
            text=question["text"],
            payload={"context": question["context"], "links": question["links"]},
            synthetic=submission.synthetic,
            created_at=submission.received_at,
        )


def question_key(stage: Stage, seed: Seed, text: str) -> str:
    """Return the question's name by content; equal questions are told apart by their order."""
    earlier = Question.objects.filter(stage=stage, seed=seed, text=text).count()
    return uuid5(NAMESPACE_URL, f"{stage.name}\n{seed.key}\n{text}\n{earlier}").hex
