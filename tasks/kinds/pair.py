"""Pair HITs: workers write a question that needs both of two paragraphs, and answer it at once."""

from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from tasks.kinds import listed
from tasks.kinds.question import seeds_of, seeds_shown
from tasks.kinds.question import store_all as store_questions
from tasks.models import Answer, Exposure, Lease, Question, Skip, Submission, Unit, UnitItem, Worker
from tasks.money.awards.bonus_progress import standing_of
from tasks.statements import insert_all
from tasks.widgets import pairs
from tasks.widgets.problems import Problem
from tasks.work.articles import Documents
from tasks.work.passages import paragraphs_of

__all__ = [
    "allowed",
    "clean",
    "limits",
    "own",
    "page_items",
    "seeds_shown",
    "share_done",
    "store",
]


# The types that a requester can correct an answer of this kind to.
CORRECTIONS = ("span", "yes", "no")


def allowed(units: QuerySet[Unit], worker: Worker) -> QuerySet[Unit]:
    """Leave out units with a pair the worker has seen elsewhere: skipped, or with its question.

    Whoever was shown the pair by this very unit may come back to it.
    """
    seen = Exposure.objects.filter(worker=worker).values("seed_id")
    items = UnitItem.objects.filter(unit=OuterRef("pk"), seed_id__in=seen)
    begun = Lease.objects.filter(unit=OuterRef("pk"), worker=worker)
    return units.exclude(Exists(items) & ~Exists(begun))


def page_items(unit: Unit) -> list[dict[str, Any]]:
    """Return what the page shows: both paragraphs of each pair, and how its question is asked."""
    seeds = seeds_of(unit.pk)
    shown = paragraphs_of(seed for seed, _ in seeds.values())
    return [
        {
            "id": item,
            "type": shown[seed].payload["type"],
            "form": shown[seed].payload["form"],
            "paragraphs": shown[seed].paragraphs,
        }
        for item, (seed, _) in seeds.items()
    ]


def own(lease: Lease) -> dict[str, Any]:
    """Return what only this stay's page is told: how far its worker is from a bonus."""
    return {"standing": standing_of(lease)}


def limits(table: Any, checks: Any) -> dict[str, int]:
    """Return the numbers the page counts against."""
    return {
        "pairs": table.items_per_hit,
        "max_skips": table.max_skips,
        "max_question_characters": checks.max_question_characters,
        "min_question_words": getattr(checks, "min_question_words", 1),
        "max_answer_words": checks.max_answer_words,
        "max_reason_characters": checks.max_reason_characters,
    }


def clean(
    data: object, items: list[dict[str, Any]], documents: Documents, table: Any, checks: Any
) -> tuple[dict[str, Any], list[Problem]]:
    """Return {"pairs": […]}, one per pair, with every span and sentence proven; what is wrong."""
    return pairs.clean_written(data, items, checks)


def share_done(data: dict[str, Any], wanted: int) -> float:
    """Return how much of the work a draft holds, from 0 to 1; a skipped pair is done."""
    done = [
        pair
        for pair in listed(data.get("pairs"))
        if isinstance(pair, dict)
        and (pair.get("skipped") or (str(pair.get("text") or "").strip() and pair.get("type")))
    ]
    return min(1.0, len(done) / wanted)


def store(submission: Submission, data: dict[str, Any]) -> None:
    """Write questions with their writer's answers, and skips; expects the transaction."""
    written = [pair for pair in data["pairs"] if not pair["skipped"]]
    asked = {item: seed for item, (seed, _) in seeds_of(submission.lease.unit_id).items()}
    shown = paragraphs_of(asked[pair["item"]] for pair in written)
    questions = []
    for pair in written:
        about = shown[asked[pair["item"]]].payload
        payload = {"type": about["type"], "form": about["form"], "facts": pair["facts"]}
        questions.append((pair["item"], pair["text"], payload))
    store_questions(submission, questions)
    _store_answers(submission, written)
    _store_skips(submission, [pair for pair in data["pairs"] if pair["skipped"]], asked)


def _shared(submission: Submission) -> dict[str, Any]:
    return {
        "stage_id": submission.lease.unit.stage_id,
        "submission_id": submission.pk,
        "worker_id": submission.lease.worker_id,
        "synthetic": submission.synthetic,
        "created_at": submission.received_at,
    }


def _store_answers(submission: Submission, written: list[dict[str, Any]]) -> None:
    """Write each question's answer; asking and answering are one act, nobody else's `writer`."""
    ids = Question.objects.filter(submission=submission).order_by("position")
    own = [
        {
            "question_id": question,
            "writer_id": None,
            "type": pair["type"],
            "payload": answer_payload(pair),
        }
        for question, pair in zip(ids.values_list("pk", flat=True), written, strict=True)
    ]
    insert_all(Answer, _shared(submission), own)


def answer_payload(pair: dict[str, Any]) -> dict[str, Any]:
    """Return what is stored of an answer: spans with the number of their paragraph, and facts."""
    spans = [{**span, "document": int(span["document"])} for span in pair["spans"]]
    return {"spans": spans, "facts": pair["facts"]}


def _store_skips(
    submission: Submission, skipped: list[dict[str, Any]], asked: dict[str, int]
) -> None:
    own = [{"seed_id": asked[pair["item"]], "reason": pair["reason"]} for pair in skipped]
    insert_all(Skip, _shared(submission), own)
