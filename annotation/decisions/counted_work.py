"""Whose work counts and is released: not that of people who withdrew or were excluded."""

from collections.abc import Set

from django.db.models import Q

from annotation.models import Exclusion
from collector.models import Collection
from common.actions import ActionError
from tasks.models import Answer, Question, Worker


def excluded_workers(collection: Collection) -> set[str]:
    """Return the ids of the workers who are left out of the collection now; one query."""
    rows = Exclusion.objects.filter(collection=collection, back_at__isnull=True)
    return set(rows.values_list("worker_id", flat=True))


def counted_work_of(collection: Collection, at: str = "") -> Q:
    """Return the condition that work counts, on rows that name their worker at `at`; one query."""
    return counted_without(excluded_workers(collection), at)


def counted_without(out: Set[str], at: str = "") -> Q:
    """Return the same condition, `out` being the workers who are left out.

    What nobody of ours made, such as published files, counts.
    """
    stayed = Q(**{f"{at}worker__withdrawn_at__isnull": True})
    return stayed & ~Q(**{f"{at}worker_id__in": out}) if out else stayed


def counted_answers(out: Set[str], at: str = "") -> Q:
    """Return the condition that answers count, and so does the vote that a hand's rests on."""
    return counted_without(out, at) & counted_without(out, f"{at}corrects__")


def is_counted(answer: Answer, out: Set[str]) -> bool:
    """Return the same of one answer."""
    worker = (answer.corrects or answer).worker
    return worker is None or (worker.withdrawn_at is None and worker.pk not in out)


def check_counted(question: Question, answer: Answer) -> None:
    """Raise ActionError where the writer's work, or that of who answered, does not count."""
    workers = Worker.objects.filter(pk__in=[question.worker_id, answer.worker_id])
    if workers.filter(withdrawn_at__isnull=False).exists():
        raise ActionError(
            "The person who wrote the question or gave this answer has withdrawn, and nothing of "
            "theirs is released: choose another answer, or exclude the question."
        )
    if workers.filter(pk__in=excluded_workers(question.stage.collection)).exists():
        raise ActionError("Everything by its worker is excluded: include it again first.")
