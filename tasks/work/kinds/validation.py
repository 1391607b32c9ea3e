"""Validation HITs: the questions of a finished dialog, answered again from its text, in order.

A question is shown when the one before it has been answered, and what its teacher answered when
the worker has: both leave the server no earlier, and an answer that was given stays as it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from collector.ingest.segmentation import split
from collector.protocols.creation import parameters_of
from collector.protocols.parameters import Parameters, StageTable
from collector.protocols.stage_tables import ValidationTable
from tasks.models import (
    Answer,
    Exposure,
    Lease,
    LeaseEnded,
    LeaseState,
    LockedAnswer,
    Unit,
    UnitItem,
    Worker,
)
from tasks.work.kinds.kind import (
    Data,
    Documents,
    Item,
    NotTheNextQuestion,
    entries_of,
    protocol_problems,
    table_as,
)
from tasks.work.kinds.voting import VotingKind, questions_shown
from tasks.work.passages import section_of
from tasks.work.widgets import reply
from tasks.work.widgets.problems import Problem

# Of a section such a stage shows how its article begins, and nothing more.
SHOWS_NO_SECTION = "text"


class ValidationKind(VotingKind):
    """Answers to a dialog's questions, given one after the other."""

    name = "validation"
    correction_types = ("span", "none")

    def allowed(self, units: QuerySet[Unit], worker: Worker) -> QuerySet[Unit]:
        """Leave out units of a dialog the worker was in, or of a section they have seen elsewhere.

        A worker who was shown the section by this very unit may come back to it.
        """
        seen = Exposure.objects.filter(worker=worker).exclude(kind=SHOWS_NO_SECTION)
        items = UnitItem.objects.filter(unit=OuterRef("pk"))
        others = seen.exclude(kind=self.name).values("seed_id")
        own = seen.filter(kind=self.name).values("seed_id")
        begun = Lease.objects.filter(unit=OuterRef("pk"), worker=worker)
        return (
            super()
            .allowed(units, worker)
            .exclude(Exists(items.filter(question__seed__in=others)))
            .exclude(Exists(items.filter(question__seed__in=own)) & ~Exists(begun))
        )

    def page_items(self, unit: Unit) -> list[Item]:
        """Return the sections to answer from, None where it is that of the item before.

        The questions are told one after the other: see `page_state`.
        """
        items: list[Item] = []
        last = None
        for item, seed, _, _ in questions_shown(unit):
            items.append({"id": item, "passage": None if seed == last else _passage(seed)})
            last = seed
        return items

    def page_state(self, lease: Lease) -> dict[str, object]:
        """Return how far the lease's worker has come with the questions."""
        return {"ordered_answers": ordered_answers(lease)}

    def limits(self, table: StageTable, parameters: Parameters) -> dict[str, object]:
        """Return the longest answer, and whether a hint to the student is asked for."""
        own = table_as(table, ValidationTable)
        return {"max_span_tokens": own.max_span_tokens, "continuation": own.continuation}

    def with_given_answers(self, lease: Lease, data: object) -> dict[str, object]:
        """Return what was sent with the answers that were given before as they were given."""
        given = {str(position): answer for position, answer in locked_answers(lease).items()}
        rest = [each for each in entries_of(data, "answers") if str(each.get("item")) not in given]
        return {"answers": [*given.values(), *rest]}

    def clean(
        self,
        data: object,
        items: Sequence[Item],
        documents: Documents,
        table: StageTable,
        parameters: Parameters,
    ) -> tuple[Data, list[Problem]]:
        """Return {"answers": […]}, one per question, with every span proven, and what is wrong."""
        own = table_as(table, ValidationTable)
        return reply.clean_all(
            data,
            reply.passages_of(items),
            most_tokens=own.max_span_tokens,
            continuation=own.continuation,
        )

    def unfinished(self, lease: Lease) -> list[Problem]:
        """Return which question still has to be answered before the next can be."""
        n_given, n_items = len(locked_answers(lease)), lease.unit.items.count()
        if n_given == n_items:
            return []
        return [Problem(f"Answer question {n_given + 1} of {n_items} first.", n_given, "spans")]

    def categories(self, type: str, payload: Mapping[str, object]) -> dict[str, str]:
        """Return whether there is an answer, and what was said beside it."""
        return reply.categories(type, payload)

    def give_answer(
        self, lease: Lease, item: str, answer: object, items: Sequence[Item], now: datetime
    ) -> list[Problem]:
        """Keep the answer to the next question, and return what is wrong: then nothing is kept.

        Raises NotTheNextQuestion for any other question, LeaseEnded when the lease is over.
        """
        return give_answer(lease, item, answer, items, now)


def _passage(seed: int) -> dict[str, object]:
    section = section_of(seed)
    return {
        "title": section.title,
        "section": section.heading,
        "background": section.background,
        "text": section.text,
        "tokens": section.tokens,
        "paragraphs": section.paragraphs,
        "sentences": [
            [start + first, start + last]
            for start, end in section.paragraphs
            for first, last in split(section.text[start:end], section.language)
        ],
        "lang": section.language,
        "dir": section.direction,
    }


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
    positions = list(given)
    asked = lease.unit.items.filter(position__in=positions).select_related("question")
    by_question = {item.the_question(): item.position for item in asked}
    answers = Answer.objects.filter(question__in=by_question).select_related("question")
    teachers = {
        by_question[answer.question]: {
            "type": answer.type,
            **{name: answer.payload.get(name) for name in ("spans", "affirmation", "continuation")},
        }
        for answer in answers
        if answer.stage_id == answer.question.stage_id
    }
    return [
        {
            "item": item,
            "question": text,
            "own": given.get(int(item)),
            "teacher": teachers.get(int(item)),
        }
        for item, _, text, _ in shown
    ]


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
