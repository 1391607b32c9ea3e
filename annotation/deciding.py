"""Turns votes into verdicts: finds questions with enough answers and asks the protocol."""

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


def decide_collection(collection: Collection, now: datetime) -> int:
    """Return how many verdicts were made or changed; safe to run twice.

    A verdict follows the votes in submission order; one that a requester overrode is left alone,
    unless whoever gave its answer has withdrawn. Votes of a later reading (human performance) and
    of people who have withdrawn are not counted.
    """
    parameters = parameters_of(collection)
    validation = find(collection.protocol).part("validation")
    changed = 0
    for stage_name, source_name in voting_stages(parameters).items():
        given = Q(answers__stage__name=stage_name, answers__worker__withdrawn_at__isnull=True)
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
            changed += _decide(question, stage_name, validation, parameters, now)
    return changed


def voting_stages(parameters: Any) -> dict[str, str]:
    """Return the name of each stage whose answers are votes, with the stage that asked.

    Votes are given on what a main stage made from seeds; whoever reads that again gives none.
    """
    stages = parameters.stages()
    return {
        name: table.items_from
        for name, table in stages.items()
        if not table.qualifies
        and table.items_from in stages
        and stages[table.items_from].items_from == "seeds"
    }


def votes_on(question: Question, stage_name: str) -> list[Answer]:
    """Return the question's votes, one per annotator, in submission order."""
    return list(
        question.answers.filter(stage__name=stage_name, worker__withdrawn_at__isnull=True)
        .select_related("submission")
        .order_by("submission__received_at", "submission_id")
    )


def _decide(
    question: Question, stage_name: str, validation: Any, parameters: Any, now: datetime
) -> int:
    believed = _believed(question, stage_name, validation, parameters, now)
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
    asking = voting_stages(parameters).items()
    stage_name = next(name for name, source in asking if source == question.stage.name)
    for name, value in _believed(question, stage_name, validation, parameters, now).items():
        setattr(verdict, name, value)


def _believed(
    question: Question, stage_name: str, validation: Any, parameters: Any, now: datetime
) -> dict[str, Any]:
    """Return the fields of the verdict that the question's votes lead to."""
    answers = votes_on(question, stage_name)
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
