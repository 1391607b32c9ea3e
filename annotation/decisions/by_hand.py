"""What a requester decides by hand: a verdict, which labels hold, whose work is left out."""

from collections.abc import Set
from copy import copy
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Value
from django.db.models.fields.json import KeyTextTransform

from annotation.agreement.decision import Outcome
from annotation.decisions.counted_work import (
    check_counted,
    counted_answers,
    counted_without,
    excluded_workers,
    is_counted,
)
from annotation.decisions.verdicts import (
    LEFT_OUT,
    decide_anew,
    decide_by_votes,
    lock,
    voting_stages,
)
from annotation.models import Exclusion, Override, Verdict
from collector.models import Collection
from collector.protocols.creation import parameters_of
from collector.protocols.parameters import Parameters
from collector.protocols.stage_tables import FieldTable, LabelTable
from common.actions import ActionError, said
from tasks.models import Answer, Question, Worker, WorkerBlock
from tasks.work import units

REASON = "by_hand"
UNUSABLE = "bad"
MAX_SENTENCE = MAX_WHY = 500
SAY_WHY = "Say in the note why: readers of the dataset's log want to know."
SAY_WHY_OF_WORKER = "Say why: it is kept with your name."


def override_verdict(
    verdict: Verdict, outcome: str, chosen: Answer | None, note: str, by: str, now: datetime
) -> Override:
    """Return the logged override that keeps the question with the answer `chosen`, or drops it.

    The verdict follows no vote any more, until it is given back to them. Raises ActionError
    for an empty note, an outcome other than kept or dropped, a question kept without an answer of
    its own, or one kept with an answer that calls it bad; then nothing changes.
    """
    note = said(note, SAY_WHY)
    if outcome not in (Outcome.KEPT, Outcome.DROPPED):
        raise ActionError("Choose an answer to keep the question with, or exclude it.")
    if outcome == Outcome.DROPPED:
        chosen = None
    elif chosen is None or chosen.question_id != verdict.question_id:
        raise ActionError("Choose one of this question's answers to keep it with.")
    elif chosen.type == UNUSABLE:
        raise ActionError("This answer says that the question is bad: choose another one.")
    with transaction.atomic():
        lock(verdict.question)
        if chosen is not None:
            check_counted(verdict.question, chosen)
        row = Verdict.objects.select_for_update().get(pk=verdict.pk)
        if row.overridden:
            # Who agrees with whom is the votes' to say, whatever was decided before.
            by_votes = copy(row)
            decide_by_votes(by_votes, now)
            row.agreeing = by_votes.agreeing
        logged = Override.objects.create(
            verdict=row,
            old_outcome=row.outcome,
            new_outcome=outcome,
            old_chosen=row.chosen,
            new_chosen=chosen,
            note=note,
            by=by,
            at=now,
        )
        row.decided_at = now
        _save_by_hand(row, outcome, chosen, note)
    return logged


def correct(
    verdict: Verdict,
    base: Answer,
    type_: str,
    payload: dict[str, Any],
    note: str,
    by: str,
    now: datetime,
) -> Override:
    """Return the logged override that keeps the question with an answer that a requester entered.

    It belongs to the stage of `base`, the vote that it corrects, is no vote itself, and is marked
    to the releases. Raises ActionError as `override_verdict` does, and then nothing changes.
    """
    with transaction.atomic():
        check_counted(verdict.question, base)
        answer = Answer.objects.create(
            question_id=verdict.question_id,
            stage=base.stage,
            type=type_,
            payload=payload,
            synthetic=base.synthetic,
            corrected_by=by,
            corrects_id=base.pk,
            created_at=now,
        )
        return override_verdict(verdict, Outcome.KEPT, answer, note, by, now)


def fallen() -> QuerySet[Verdict]:
    """Return the verdicts by votes that a hand had decided with what does not count any more.

    They are to be decided again, or given back to their votes. Questions that are left out with
    their writers are none of them.
    """
    later = Override.objects.filter(verdict=OuterRef("verdict"), pk__gt=OuterRef("pk"))
    last = Override.objects.filter(~Exists(later), follows_votes=False, verdict__overridden=False)
    rows = Verdict.objects.filter(pk__in=last.values("verdict"))
    return rows.filter(question__worker__withdrawn_at__isnull=True).exclude(reason=LEFT_OUT.reason)


def follow_votes(verdict: Verdict, note: str, by: str, now: datetime) -> Override:
    """Return the logged step that gives a verdict decided by hand, or a fallen one, to its votes.

    It is decided anew by the votes given so far, and by later ones. Raises ActionError for an
    empty note, or a verdict that follows the votes already; then nothing changes.
    """
    note = said(note, SAY_WHY)
    with transaction.atomic():
        lock(verdict.question)
        # The second lock is the verdict's alone: its stage is read, not changed.
        row = (
            Verdict.objects.select_for_update(of=("self",))
            .select_related("question__stage__collection", "question__seed")
            .get(pk=verdict.pk)
        )
        if not (row.overridden or fallen().filter(pk=row.pk).exists()):
            raise ActionError("It follows the votes already: there is nothing to take back.")
        logged = Override(
            verdict=row,
            old_outcome=row.outcome,
            old_chosen=row.chosen,
            follows_votes=True,
            note=note,
            by=by,
            at=now,
        )
        decide_by_votes(row, now)
        row.save()
        logged.new_outcome, logged.new_chosen = row.outcome, row.chosen
        logged.save()
    return logged


def decide_as_last_by_hand(verdict: Verdict, out: Set[str]) -> None:
    """Put a verdict back to what a hand decided last, if that was not to follow the votes.

    out: workers who are left out; nor can it rest on an answer by somebody who has withdrawn.
    Expects a transaction.
    """
    last = verdict.overrides.select_related("new_chosen__corrects__worker").last()
    if last is None or last.follows_votes or verdict.question.worker_id in out:
        return
    if last.new_chosen and not is_counted(last.new_chosen, out):
        return
    _save_by_hand(verdict, last.new_outcome, last.new_chosen, last.note)


def _save_by_hand(verdict: Verdict, outcome: str, chosen: Answer | None, note: str) -> None:
    """Save what a person decided.

    The votes that agree with the chosen answer are those that the agreement found if it is one of
    them, else itself alone: votes for another answer are overruled. None agrees with a correction,
    which is no vote.
    """
    verdict.outcome, verdict.chosen = outcome, chosen
    verdict.reason, verdict.overridden = REASON, True
    verdict.sentence = f"Decided by hand: {note}"[:MAX_SENTENCE]
    if chosen is not None and chosen.pk not in verdict.agreeing:
        verdict.agreeing = [] if chosen.corrected_by else [chosen.pk]
    verdict.save()


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


def exclude_worker(
    collection: Collection, worker: Worker, why: str, by: str, now: datetime
) -> Exclusion:
    """Return the logged act by which nothing of the worker's counts or is released any more.

    Their questions are dropped, and the others' are decided by the votes that are left, also
    where a hand had kept one with their answer. They are given no more work of the collection; what
    they hold they may finish. The jobs drop the places that ask about their questions. Nobody's pay
    changes. Raises ActionError without a reason or where it is done already, and ProtocolError.
    """
    why = said(why, SAY_WHY_OF_WORKER)
    with transaction.atomic():
        _lock(collection)
        if worker.pk in excluded_workers(collection):
            raise ActionError("Everything by this worker is excluded already.")
        made = Exclusion.objects.create(
            collection=collection, worker=worker, why=why, by=by, at=now
        )
        WorkerBlock.objects.get_or_create(collection=collection, worker=worker)
        _decide(collection, worker.pk, now)
    return made


def include_again(exclusion: Exclusion, why: str, by: str, now: datetime) -> None:
    """Count the worker's work again; what was decided by hand is as it was.

    Raises ActionError without a reason or where it was taken back before, and ProtocolError.
    """
    why = said(why, SAY_WHY_OF_WORKER)
    with transaction.atomic():
        _lock(exclusion.collection)
        rows = Exclusion.objects.filter(pk=exclusion.pk, back_at__isnull=True)
        if not rows.update(back_at=now, back_by=by, back_why=why):
            raise ActionError("It was taken back already.")
        WorkerBlock.objects.filter(
            collection=exclusion.collection_id, worker=exclusion.worker_id
        ).delete()
        units.open_again(exclusion.collection, exclusion.worker)
        _decide(exclusion.collection, exclusion.worker_id, now)


def _decide(collection: Collection, worker_id: str, now: datetime) -> None:
    """Decide anew what the worker's work touches; a hand's decision stands where it can."""
    rows = Question.objects.filter(
        Q(worker=worker_id) | Q(answers__worker=worker_id),
        stage__collection=collection,
        stage__name__in=voting_stages(parameters_of(collection)),
    )
    touched = list(rows.select_related("stage", "seed").distinct().order_by("id"))
    decide_anew(collection, touched, now)
    by_hand = Verdict.objects.filter(question__in=touched, overrides__isnull=False).distinct()
    for verdict in by_hand.select_related("question"):
        decide_as_last_by_hand(verdict, excluded_workers(collection))


def _lock(collection: Collection) -> None:
    """Order the acts on a collection's workers one after the other."""
    Collection.objects.select_for_update(no_key=True).get(pk=collection.pk)
