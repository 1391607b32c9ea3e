"""How far somebody has come with the questions of a dialog, and the next answer they give."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from django.db import transaction

from collector.protocols.creation import parameters_of
from collector.protocols.stage_tables import ValidationTable
from tasks.models import Answer, Lease, LeaseEnded, LeaseState, LockedAnswer
from tasks.work.kinds.kind import Item, table_as
from tasks.work.kinds.protocol_checks import protocol_problems
from tasks.work.kinds.voting import questions_shown
from tasks.work.widgets import reply
from tasks.work.widgets.problems import Problem


class NotTheNextQuestion(Exception):
    """The answer is not to the next question; the page has to load the answers again."""


def locked_answers(lease: Lease) -> dict[int, dict[str, object]]:
    """Return by position the answers that the lease's worker has given to its unit."""
    rows = LockedAnswer.objects.filter(unit=lease.unit_id, worker=lease.worker_id)
    return dict(rows.order_by("position").values_list("position", "answer"))


def ordered_answers(lease: Lease) -> list[dict[str, object]]:
    """Return what the page may show: the questions answered, and the next.

    Each is {"item", "question", "own", "teacher"}: both answers once the worker's is given,
    "teacher" None too where nobody has answered before.
    """
    given = locked_answers(lease)
    shown = questions_shown(lease.unit)[: len(given) + 1]
    teachers = _teachers(lease, list(given))
    return [
        {
            "item": item,
            "question": text,
            "own": given.get(int(item)),
            "teacher": teachers.get(int(item)),
        }
        for item, _, text, _ in shown
    ]


def _teachers(lease: Lease, positions: list[int]) -> dict[int, dict[str, object]]:
    """Return by position what the dialog's teacher answered to the questions at `positions`."""
    asked = lease.unit.items.filter(position__in=positions).select_related("question")
    by_question = {item.the_question(): item.position for item in asked}
    answers = Answer.objects.filter(question__in=by_question).select_related("question")
    return {
        by_question[answer.question]: {
            "type": answer.type,
            **{name: answer.payload.get(name) for name in ("spans", "affirmation", "continuation")},
        }
        for answer in answers
        if answer.stage_id == answer.question.stage_id
    }


def give_answer(
    lease: Lease, item: str, raw: object, items: Sequence[Mapping[str, object]], now: datetime
) -> list[Problem]:
    """Keep the answer to the next question, and return what is wrong: then nothing is kept.

    One that was given before stays as it is. A problem's index counts the page's items. Raises
    NotTheNextQuestion for any other question, LeaseEnded when the lease is over. Locks the lease.
    """
    n_given = len(locked_answers(lease))
    passages = reply.passages_of(items)
    if item not in passages or int(item) > n_given:
        raise NotTheNextQuestion
    position = int(item)
    if position < n_given:
        return []
    answer, problems = _examine(lease, item, raw, passages[item])
    if problems:
        return [replace(problem, index=position) for problem in problems]
    with transaction.atomic():
        held = Lease.objects.select_for_update(no_key=True).get(pk=lease.pk)
        if held.state not in (LeaseState.LIVE, LeaseState.EXPIRED):
            raise LeaseEnded
        if held.draft is None:
            # Work that was begun, to be paid for in part when the time runs out.
            Lease.objects.filter(pk=lease.pk).update(draft={"data": {}, "ui": {}})
        LockedAnswer.objects.get_or_create(
            unit_id=lease.unit_id,
            worker_id=lease.worker_id,
            position=position,
            defaults={"answer": answer, "at": now},
        )
    return []


def _examine(
    lease: Lease, item: str, raw: object, passage: Mapping[str, object]
) -> tuple[dict[str, object], list[Problem]]:
    """Return the cleaned answer, and what the widget and the protocol find wrong with it."""
    stage = lease.unit.stage
    parameters = parameters_of(stage.collection)
    table = table_as(parameters.stages()[stage.name], ValidationTable)
    cleaned, problems = reply.clean(
        raw, passage, most_tokens=table.max_span_tokens, continuation=table.continuation
    )
    answer = {"item": item, **cleaned}
    shown: Item = {"id": item, "passage": passage}
    found = protocol_problems(
        stage.collection.protocol, {"answers": [answer]}, [shown], table, parameters
    )
    said = {problem.field for problem in problems}
    return answer, problems + [
        problem for problem in found if not problem.hint and problem.field not in said
    ]
