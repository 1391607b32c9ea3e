"""What the kinds share whose workers write questions or texts about the seeds they are shown."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from django.db.models import Exists, OuterRef, QuerySet

from collector.models import Stage
from common.committed_cache import kept_once_committed
from common.prepared_sql import execute, insert_all
from tasks.models import Answer, Exposure, Lease, Question, Skip, Submission, Unit, UnitItem, Worker
from tasks.work.kinds.kind import StageKind

SEEDS = """
SELECT item.position, seed.id, seed.key
FROM tasks_unititem item JOIN collector_seed seed ON seed.id = item.seed_id
WHERE item.unit_id = %s ORDER BY item.position
"""


class WritingKind(StageKind):
    """A kind whose workers write about the seeds of their unit."""

    def allowed(self, units: QuerySet[Unit], worker: Worker) -> QuerySet[Unit]:
        """Leave out units with a seed that the worker has seen with what others wrote about it."""
        shown = Exposure.objects.filter(worker=worker).exclude(kind=self.name).values("seed_id")
        items = UnitItem.objects.filter(unit=OuterRef("pk"), seed_id__in=shown)
        return units.exclude(Exists(items))

    def seeds_shown(self, unit: Unit) -> list[int]:
        """Return the ids of the seeds that the unit shows."""
        return [seed for seed, _ in seeds_of(unit.pk).values()]


def unseen(units: QuerySet[Unit], worker: Worker) -> QuerySet[Unit]:
    """Leave out units with a seed that the worker has been shown in any stage.

    A worker who was shown it by this very unit may come back to it.
    """
    seen = Exposure.objects.filter(worker=worker).values("seed_id")
    items = UnitItem.objects.filter(unit=OuterRef("pk"), seed_id__in=seen)
    begun = Lease.objects.filter(unit=OuterRef("pk"), worker=worker)
    return units.exclude(Exists(items) & ~Exists(begun))


@kept_once_committed(1024)
def seeds_of(unit_id: int) -> dict[str, tuple[int, str]]:
    """Return id and key of each item's seed, by the item's id on the page; never changes."""
    return {str(position): (seed, key) for position, seed, key in execute(SEEDS, [unit_id])}


def store_questions(
    submission: Submission, written: Sequence[tuple[str, str, Mapping[str, object]]]
) -> None:
    """Write (item id, text, payload) as rows, in order; expects the submission's transaction."""
    lease = submission.lease
    stage = lease.unit.stage
    seeds = seeds_of(lease.unit_id)
    shared = shared_values(submission)
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


def store_own_answers(
    submission: Submission, answers: Sequence[tuple[str, Mapping[str, object]]]
) -> None:
    """Write (type, payload) of each of the submission's questions: its writer's own answer.

    Asking and answering are one act, so nobody is their `writer`; expects the transaction.
    """
    ids = Question.objects.filter(submission=submission).order_by("position")
    own = [
        {"question_id": question, "writer_id": None, "type": kind, "payload": payload}
        for question, (kind, payload) in zip(ids.values_list("pk", flat=True), answers, strict=True)
    ]
    insert_all(Answer, shared_values(submission), own)


def store_skips(submission: Submission, skipped: Iterable[tuple[str, str]]) -> None:
    """Write (item id, reason) of each seed that was skipped; expects the transaction."""
    seeds = seeds_of(submission.lease.unit_id)
    own = [{"seed_id": seeds[item][0], "reason": reason} for item, reason in skipped]
    insert_all(Skip, shared_values(submission), own)


def shared_values(submission: Submission) -> dict[str, object]:
    """Return what all rows that come of a submission share, by column."""
    return {
        "stage_id": submission.lease.unit.stage_id,
        "submission_id": submission.pk,
        "worker_id": submission.lease.worker_id,
        "synthetic": submission.synthetic,
        "created_at": submission.received_at,
    }


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
