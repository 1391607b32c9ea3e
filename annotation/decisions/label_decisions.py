"""Decides by hand which labels hold where people who label decided questions differ: logged.

Such labels change no verdict. A decision is a row of its own that copies the labels of a vote;
the votes stay as they are, and of several decisions the latest holds, while that vote counts.
"""

from datetime import datetime

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, Value
from django.db.models.fields.json import KeyTextTransform

from annotation.decisions.counted_work import (
    check_counted,
    counted_answers,
    counted_without,
    excluded_workers,
)
from annotation.decisions.verdicts import SAY_WHY, lock
from collector.models import Collection
from collector.protocols.parameters import Parameters
from collector.protocols.stage_tables import FieldTable, LabelTable
from common.actions import ActionError, said
from tasks.models import Answer, Question

MAX_WHY = 500


def stages_apart(parameters: Parameters) -> dict[str, list[FieldTable]]:
    """Return the facets of each stage that labels what is decided already, by its name."""
    return {
        name: [field for field in table.fields if field.choices]
        for name, table in parameters.stages().items()
        if isinstance(table, LabelTable) and table.sample_questions
    }


def undecided(collection: Collection, parameters: Parameters) -> Q:
    """Return the condition that labels of a question differ, and that no decision holds."""
    stages = stages_apart(parameters)
    if not stages:
        return Q(pk__in=[])
    found, out = Q(), excluded_workers(collection)
    later = Answer.objects.filter(
        question=OuterRef("question"), stage=OuterRef("stage"), pk__gt=OuterRef("pk")
    ).exclude(corrected_by="")
    for name, facets in stages.items():
        labels = Answer.objects.filter(stage__collection=collection, stage__name=name).order_by()
        votes = labels.filter(counted_without(out), corrected_by="").values("question")
        # The first facet is the vote's type, the others stand beside it.
        numbers = {"facet_0": Count("type", distinct=True)}
        for place, facet in enumerate(facets[1:], start=1):
            label = KeyTextTransform(facet.name, KeyTextTransform("fields", "payload"))
            numbers[f"facet_{place}"] = Count(label, distinct=True)
        differ = Q()
        for number in numbers:
            differ |= Q(**{f"{number}__gt": Value(1)})
        differing = votes.annotate(**numbers).filter(differ).values("question")
        decided = labels.filter(counted_answers(out), ~Exists(later)).exclude(corrected_by="")
        found |= Q(pk__in=differing) & ~Q(pk__in=decided.values("question"))
    return found


def decide_labels(
    question: Question, vote: Answer, why: str, by: str, now: datetime, parameters: Parameters
) -> Answer:
    """Return the decision that the labels of a vote hold for the question.

    Raises ActionError without a reason, for what is no label of the question, and for one by
    somebody whose work does not count; then nothing changes.
    """
    why = said(why, SAY_WHY)[:MAX_WHY]
    is_label = vote.stage.name in stages_apart(parameters) and not vote.corrected_by
    if vote.question_id != question.pk or not is_label:
        raise ActionError("Choose one of this question's labels.")
    with transaction.atomic():
        lock(question)
        check_counted(question, vote)
        return Answer.objects.create(
            question=question,
            stage=vote.stage,
            type=vote.type,
            payload={"fields": vote.payload.get("fields", {}), "why": why},
            synthetic=vote.synthetic,
            corrected_by=by,
            corrects=vote,
            created_at=now,
        )


def decisions_on(question: Question, parameters: Parameters) -> list[Answer]:
    """Return the decisions on the question's labels, the latest last."""
    rows = question.answers.exclude(corrected_by="").filter(
        stage__name__in=stages_apart(parameters)
    )
    return list(rows.select_related("stage", "corrects__worker").order_by("id"))
