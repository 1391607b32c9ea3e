"""Question HITs: workers read seeds and write questions about them."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from django.db.models import Exists, OuterRef, QuerySet

from tasks.articles import Documents
from tasks.kinds import listed
from tasks.models import Exposure, Question, Submission, Unit, UnitItem, Worker
from tasks.passages import passages_of
from tasks.problems import Problem
from tasks.statements import insert
from tasks.widgets import questions

PAYLOAD = ("context", "links")


def allowed(units: QuerySet[Unit], worker: Worker) -> QuerySet[Unit]:
    """Leave out units with a paragraph whose answers the worker has been shown."""
    shown = Exposure.objects.filter(worker=worker, kind="answer").values("seed_id")
    return units.exclude(Exists(UnitItem.objects.filter(unit=OuterRef("pk"), seed_id__in=shown)))


def seeds_shown(unit: Unit) -> list[int]:
    """Return the ids of the seeds that the unit shows."""
    return [seed for seed, _ in seeds_of(unit.pk).values()]


def page_items(unit: Unit) -> list[dict[str, Any]]:
    """Return what the page shows: passages with the titles of their links, never their text."""
    seeds = seeds_of(unit.pk)
    passages = passages_of(seed for seed, _ in seeds.values())
    return [{"id": item, **passages[seed]} for item, (seed, _) in seeds.items()]


@lru_cache(maxsize=1024)
def seeds_of(unit_id: int) -> dict[str, tuple[int, str]]:
    """Return id and key of each item's seed, by the item's id on the page; never changes."""
    rows = UnitItem.objects.filter(unit=unit_id).order_by("position")
    return {
        str(position): (seed, key)
        for position, seed, key in rows.values_list("position", "seed_id", "seed__key")
    }


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
    store_all(
        submission,
        [
            (written["item"], written["text"], {name: written[name] for name in PAYLOAD})
            for written in data["questions"]
        ],
    )


def store_all(submission: Submission, written: Sequence[tuple[str, str, dict[str, Any]]]) -> None:
    """Write (item id, text, payload) as rows, in order; expects the submission's transaction."""
    lease = submission.lease
    seeds = seeds_of(lease.unit_id)
    questions = [
        Question(
            stage=lease.unit.stage,
            submission=submission,
            position=position,
            seed_id=seeds[item][0],
            worker_id=lease.worker_id,
            text=text,
            payload=payload,
            synthetic=submission.synthetic,
            created_at=submission.received_at,
        )
        for position, (item, text, payload) in enumerate(written)
    ]
    keys = [seeds[item][1] for item, _, _ in written]
    _name(questions, keys, Counter())
    if insert(questions, unless="stage_id, key") < len(questions):
        # One was asked before, word for word: tell them apart by how many were.
        Question.objects.filter(submission=submission).delete()
        _name(questions, keys, _earlier(questions))
        insert(questions)


def _name(questions: Sequence[Question], keys: Sequence[str], earlier: Counter[Any]) -> None:
    """Name each question by its stage, its seed's key, its words and how many equal it."""
    for question, seed in zip(questions, keys, strict=True):
        same = question.seed_id, question.text
        content = f"{question.stage.name}\n{seed}\n{question.text}\n{earlier[same]}"
        question.key = uuid5(NAMESPACE_URL, content).hex
        earlier[same] += 1


def _earlier(questions: Sequence[Question]) -> Counter[Any]:
    """Return how many stored questions of the stage equal each (seed id, text)."""
    known = Question.objects.filter(
        stage=questions[0].stage,
        seed__in={question.seed_id for question in questions},
        text__in={question.text for question in questions},
    )
    return Counter(known.order_by().values_list("seed_id", "text"))
