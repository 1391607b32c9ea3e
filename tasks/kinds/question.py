"""Question HITs: workers read seeds and write questions about them."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from django.db.models import Exists, OuterRef, QuerySet

from collector.models import Stage
from tasks.kinds import listed
from tasks.models import Exposure, Question, Submission, Unit, UnitItem, Worker
from tasks.statements import insert_all, rows
from tasks.widgets import questions
from tasks.widgets.problems import Problem
from tasks.work.articles import Documents
from tasks.work.passages import passages_of

PAYLOAD = ("context", "links")
SEEDS = """
SELECT item.position, seed.id, seed.key
FROM tasks_unititem item JOIN collector_seed seed ON seed.id = item.seed_id
WHERE item.unit_id = %s ORDER BY item.position
"""


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
    return {str(position): (seed, key) for position, seed, key in rows(SEEDS, unit_id)}


def limits(table: Any, checks: Any) -> dict[str, int]:
    """Return the numbers the page counts against."""
    return {
        "questions": table.questions_per_hit,
        "multi_link_questions": table.multi_link_questions,
        "multi_link_min_links": table.multi_link_min_links,
        "max_question_characters": checks.max_question_characters,
        "min_question_words": getattr(checks, "min_question_words", 1),
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
    stage = lease.unit.stage
    seeds = seeds_of(lease.unit_id)
    shared = {
        "stage_id": stage.pk,
        "submission_id": submission.pk,
        "worker_id": lease.worker_id,
        "synthetic": submission.synthetic,
        "created_at": submission.received_at,
    }
    own = [
        {"position": position, "seed_id": seeds[item][0], "text": text, "payload": payload}
        for position, (item, text, payload) in enumerate(written)
    ]
    keys = [seeds[item][1] for item, _, _ in written]
    _name(own, stage.name, keys, Counter())
    if insert_all(Question, shared, own, unless="stage_id, key") < len(own):
        # One was asked before, word for word: tell them apart by how many were.
        Question.objects.filter(submission=submission).delete()
        _name(own, stage.name, keys, _earlier(stage, own))
        insert_all(Question, shared, own)


def _name(
    questions: Sequence[dict[str, Any]], stage: str, keys: Sequence[str], earlier: Counter[Any]
) -> None:
    """Name each question by its stage, its seed's key, its words and how many equal it."""
    for question, seed in zip(questions, keys, strict=True):
        same = question["seed_id"], question["text"]
        content = f"{stage}\n{seed}\n{question['text']}\n{earlier[same]}"
        question["key"] = uuid5(NAMESPACE_URL, content).hex
        earlier[same] += 1


def _earlier(stage: Stage, questions: Sequence[dict[str, Any]]) -> Counter[Any]:
    """Return how many stored questions of the stage equal each (seed id, text)."""
    known = Question.objects.filter(
        stage=stage,
        seed__in={question["seed_id"] for question in questions},
        text__in={question["text"] for question in questions},
    )
    return Counter(known.order_by().values_list("seed_id", "text"))
