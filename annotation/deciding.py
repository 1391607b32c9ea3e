"""Turns votes into verdicts: finds questions with enough answers and asks the protocol."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, F, Q

from annotation.agreement.verdict import Outcome
from annotation.models import Verdict
from collector.creation import parameters_of
from collector.models import Collection
from collector.protocol import find
from tasks.models import Answer, Question

CHUNK = 500
# Answers in the order in which they were given: one that was handed in bears the time of that.
IN_ORDER = ("created_at", "submission_id", "id")


def decide_collection(collection: Collection, now: datetime) -> int:
    """Return how many verdicts were made or changed; safe to run twice.

    A verdict follows the votes in the order in which they were given; one that a requester
    overrode is left alone, unless whoever gave its answer has withdrawn. Votes of a later reading
    (human performance) and of people who have withdrawn are not counted.
    """
    parameters = parameters_of(collection)
    validation = find(collection.protocol).part("validation")
    changed = 0
    for source_name, stage_names in voting_stages(parameters).items():
        given = Q(answers__stage__name__in=stage_names, answers__worker__withdrawn_at__isnull=True)
        votes = Count("answers", filter=given)
        asked = (
            Question.objects.filter(stage__collection=collection, stage__name=source_name)
            .annotate(votes=votes)
            .filter(Q(votes__gt=0) | Q(verdict__isnull=False))
            .filter(Q(verdict__isnull=True) | ~Q(verdict__n_votes=F("votes")))
            .exclude(verdict__overridden=True, verdict__chosen__worker__withdrawn_at__isnull=True)
            .order_by("id")
        )
        for question in asked.select_related("seed").iterator(CHUNK):
            changed += _decide(question, stage_names, validation, parameters, now)
    return changed


def voting_stages(parameters: Any) -> dict[str, tuple[str, ...]]:
    """Return each stage that asks, with the stages whose answers are votes on its questions.

    What a main stage makes from seeds is voted on in that stage itself, where who asks is answered
    at once, and in the main stages that take its questions, in their order. Whoever reads those
    answers again gives no vote.
    """
    main = {name: table for name, table in parameters.stages().items() if not table.qualifies}
    return {
        source: (source, *(name for name, table in main.items() if _votes(table, source)))
        for source, asking in main.items()
        if asking.items_from == "seeds"
    }


def _votes(table: Any, source: str) -> bool:
    return table.items_from == source and not table.sample_questions


def votes_on(question: Question, stage_names: Sequence[str]) -> list[Answer]:
    """Return the question's votes, one per annotator, in the order in which they were given."""
    return list(
        question.answers.filter(
            stage__name__in=stage_names, worker__withdrawn_at__isnull=True
        ).order_by(*IN_ORDER)
    )


def _decide(
    question: Question,
    stage_names: Sequence[str],
    validation: Any,
    parameters: Any,
    now: datetime,
) -> int:
    believed = _believed(question, stage_names, validation, parameters, now)
    with transaction.atomic():
        row = Verdict.objects.select_for_update().filter(question=question).first()
        if row and row.overridden and not _is_withdrawn(row):
            # A requester has decided since the question was picked.
            return 0
        Verdict.objects.update_or_create(question=question, defaults=believed)
    return 1


def believe_votes(verdict: Verdict, now: datetime) -> None:
    """Set the verdict, not saved, to what its votes say now, whoever decided before.

    Raises ProtocolError for a collection that this installation cannot read.
    """
    question = verdict.question
    collection = question.stage.collection
    parameters = parameters_of(collection)
    validation = find(collection.protocol).part("validation")
    stage_names = voting_stages(parameters)[question.stage.name]
    for name, value in _believed(question, stage_names, validation, parameters, now).items():
        setattr(verdict, name, value)


def _believed(
    question: Question,
    stage_names: Sequence[str],
    validation: Any,
    parameters: Any,
    now: datetime,
) -> dict[str, Any]:
    """Return the fields of the verdict that the question's votes lead to."""
    answers = votes_on(question, stage_names)
    votes = [validation.vote(answer.type, answer.payload) for answer in answers]
    found = validation.verdict(votes, parameters, question.seed.fold or "train")
    chosen = answers[found.chosen] if found.chosen is not None else None
    return {
        "outcome": str(found.outcome),
        "reason": found.reason,
        "sentence": found.sentence,
        "chosen": chosen if found.outcome == Outcome.KEPT else None,
        "agreeing": [answers[index].pk for index in found.agreeing],
        "n_votes": len(answers),
        "overridden": False,
        "decided_at": now,
    }


def _is_withdrawn(verdict: Verdict) -> bool:
    """Return whether whoever gave the chosen answer has withdrawn."""
    worker = verdict.chosen.worker if verdict.chosen else None
    return worker is not None and worker.withdrawn_at is not None
