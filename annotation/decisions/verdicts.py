"""Turns votes into verdicts: finds questions with enough answers and asks the protocol."""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import (
    BooleanField,
    Count,
    Exists,
    ExpressionWrapper,
    F,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Sum,
)

from annotation.agreement.decision import Decision, Outcome
from annotation.decisions.counted_work import (
    counted_answers,
    counted_without,
    excluded_workers,
    is_counted,
)
from annotation.models import Verdict
from annotation.protocols.contracts import VALIDATION
from collector.models import Collection, CollectionState, StageState
from collector.protocols.creation import parameters_of
from collector.protocols.loading import get_protocol
from collector.protocols.parameters import Parameters
from tasks.models import Answer, Question, Submission, Unit, UnitItem
from tasks.work.kinds.registry import kind_of
from tasks.work.units import left_out, made_by, replace_work, take_back_replacement

CHUNK = 500
# Answers in the order in which they were given. Clocks do not tell it: of two handed in at once the
# one whose request came first may be stored last, and the log has them as they were stored.
IN_ORDER = (
    ExpressionWrapper(~Q(corrected_by=""), BooleanField()).asc(),
    F("submission_id").asc(nulls_first=True),
    "id",
)
# While a HIT waits for its people, in a stage that gives more of them to a part of its HITs.
MORE = "waiting_for_more_people"
LEFT_OUT = Decision(Outcome.DROPPED, "writer_left_out", "Its writer is left out.")
OF_TWO = replace(LEFT_OUT, sentence="One of the two people of this dialog is left out.")


def decide_collection(collection: Collection, now: datetime) -> int:
    """Return how many verdicts were made or changed; safe to run twice.

    A verdict follows the votes in the order in which they were given; one that a requester
    overrode is left alone, unless the person who gave its answer, or the vote that it corrects, has
    withdrawn or is left out: then it follows the votes until somebody decides again. Votes of a
    later reading (human performance), of people who have withdrawn and of those who are left out
    are not counted.
    """
    parameters = parameters_of(collection)
    changed = 0
    for asked in _due(collection, parameters):
        for question in asked.order_by("id").select_related("seed", "stage").iterator(CHUNK):
            with transaction.atomic():
                lock(question)
                out = excluded_workers(collection)
                row = Verdict.objects.select_for_update().filter(question=question).first()
                if row and row.overridden and (row.chosen is None or is_counted(row.chosen, out)):
                    # A requester has decided since the question was picked.
                    continue
                decided = _decided(question, collection, parameters, out, now)
                Verdict.objects.update_or_create(question=question, defaults=decided)
                changed += 1
    return changed


def is_decided(collection: Collection) -> bool:
    """Return whether all votes that have been given are decided on."""
    return not any(asked.exists() for asked in _due(collection, parameters_of(collection)))


def _due(collection: Collection, parameters: Parameters) -> Iterator[QuerySet[Question]]:
    """Yield the questions of each stage that are to be decided."""
    out = excluded_workers(collection)
    for source_name, stage_names in voting_stages(parameters).items():
        given = Q(answers__stage__name__in=stage_names, answers__corrected_by="")
        given &= counted_without(out, "answers__")
        # As many votes need not be the same ones: somebody may have withdrawn while others came.
        changed_votes = ~Q(verdict__n_votes=F("votes")) | Q(last__gt=F("verdict__last_vote"))
        to_come = UnitItem.objects.filter(unit__in=_to_come(collection, stage_names, parameters))
        given_up = Q(verdict__reason=MORE) & ~Q(
            pk__in=to_come.filter(question__isnull=False).values("question")
        )
        stands = counted_answers(out, "verdict__chosen__")
        # A dialog may end after its teacher was left out, whose answers are then no votes.
        is_dialog = kind_of(parameters.stages()[source_name]).pairs_workers
        said = Answer.objects.filter(question=OuterRef("pk"), stage__name=source_name)
        is_over = Q(Exists(said)) if is_dialog else Q(pk=None)
        yield (
            Question.objects.filter(stage__collection=collection, stage__name=source_name)
            .annotate(votes=Count("answers", filter=given), last=Max("answers__id", filter=given))
            .filter(Q(votes__gt=0) | Q(verdict__isnull=False) | is_over)
            .filter(Q(verdict__isnull=True) | changed_votes | ~stands | given_up)
            .exclude(Q(verdict__overridden=True) & stands)
        )


def decide_anew(collection: Collection, questions: Iterable[Question], now: datetime) -> None:
    """Decide these questions by the votes that count now, even where a person decided before.

    A question without any vote has no verdict, unless its writer or teacher is left out. Expects a
    transaction, and the questions in the order of their ids.
    """
    parameters, out = parameters_of(collection), excluded_workers(collection)
    for question in questions:
        lock(question)
        decided = _decided(question, collection, parameters, out, now)
        rows = Verdict.objects.filter(question=question)
        is_decided = decided["n_votes"] or decided["outcome"] != Outcome.WAITING
        if is_decided or rows.filter(overrides__isnull=False):
            Verdict.objects.update_or_create(question=question, defaults=decided)
        else:
            rows.delete()


def voting_stages(parameters: Parameters) -> dict[str, tuple[str, ...]]:
    """Return each stage that asks, with the stages whose answers are votes on its questions.

    What a main stage makes from seeds is voted on in that stage itself, where who asks is answered
    at once, and in the main stages that take its questions, in their order. Whoever reads those
    answers again gives no vote.
    """
    main = {name: table for name, table in parameters.stages().items() if not table.qualifies}
    return {
        source: (
            source,
            *(
                name
                for name, table in main.items()
                if table.items_from == source and not table.sample_questions
            ),
        )
        for source, asking in main.items()
        if asking.items_from == "seeds"
    }


def votes_on(question: Question, stage_names: Sequence[str], out: AbstractSet[str]) -> list[Answer]:
    """Return the question's votes, one per annotator, in the order in which they were given.

    out: the workers who are left out.
    """
    rows = question.answers.filter(
        counted_without(out), stage__name__in=stage_names, corrected_by=""
    )
    return list(rows.order_by(*IN_ORDER))


def lock(question: Question) -> None:
    """Let one decision of the question go after the other; expects a transaction.

    Whoever decides reads its votes behind this lock: a decision by votes read before others came
    in would else be written over theirs, and one that an exclusion has dropped would come back.
    """
    Question.objects.select_for_update(no_key=True).only("pk").get(pk=question.pk)


def decide_by_votes(verdict: Verdict, now: datetime) -> None:
    """Set the verdict, not saved, to what its votes say now, even where a person decided before.

    Expects its question locked. Raises ProtocolError for a collection that this installation
    cannot read.
    """
    collection = verdict.question.stage.collection
    parameters, out = parameters_of(collection), excluded_workers(collection)
    for name, value in _decided(verdict.question, collection, parameters, out, now).items():
        setattr(verdict, name, value)


def _decided(
    question: Question,
    collection: Collection,
    parameters: Parameters,
    out: AbstractSet[str],
    now: datetime,
) -> dict[str, Any]:
    """Return the fields of the verdict that the question's votes lead to.

    out: the workers who are left out; what one of them wrote is dropped whatever its votes, and so
    is a dialog whose teacher's answers do not count.
    """
    stage_names = voting_stages(parameters)[question.stage.name]
    answers = votes_on(question, stage_names, out)
    to_come = _to_come(collection, stage_names, parameters)
    left = F("redundancy") - F("submitted")
    missing = to_come.filter(items__question=question).aggregate(n=Sum(left, default=0))["n"]
    of_dialog = kind_of(question.stage).pairs_workers
    taught = not of_dialog or any(answer.stage_id == question.stage_id for answer in answers)
    if question.worker_id in out or not taught:
        found = OF_TWO if of_dialog else LEFT_OUT
    elif answers and missing:
        wanted = len(answers) + missing
        sentence = f"{len(answers)} of {wanted} people have given their votes so far."
        found = Decision(Outcome.WAITING, MORE, sentence)
    else:
        validation = get_protocol(collection.protocol).part(VALIDATION)
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
        "last_vote": max((answer.pk for answer in answers), default=0),
        "overridden": False,
        "decided_at": now,
    }


def _to_come(
    collection: Collection, stage_names: Sequence[str], parameters: Parameters
) -> QuerySet[Unit]:
    """Return the units with places left of stages that give more people to a part of their HITs.

    None of a stage that is closed, or once the collection is finished: what was drawn for more
    people then counts as others do.
    """
    stages = parameters.stages()
    drawn = [name for name in stage_names if stages[name].redundancy.percent]
    if not drawn or collection.state == CollectionState.FINISHED:
        return Unit.objects.none()
    rows = Unit.objects.filter(
        stage__collection=collection,
        stage__name__in=drawn,
        closed=False,
        submitted__lt=F("redundancy"),
    )
    return rows.exclude(stage__state=StageState.CLOSED)


@dataclass(frozen=True)
class VerdictCounts:
    """Numbers of questions by the outcome of their verdict."""

    kept: int = 0
    dropped: int = 0
    waiting: int = 0


def verdict_counts(collection: Collection) -> VerdictCounts:
    """Return the collection's numbers, without questions that were withdrawn; one query."""
    rows = (
        Verdict.objects.filter(
            counted_without(frozenset(), "question__"), question__stage__collection=collection
        )
        .order_by()
        .values("outcome")
        .annotate(n=Count("pk"))
    )
    return VerdictCounts(**{row["outcome"]: row["n"] for row in rows})


def replace_left_out(collection: Collection) -> int:
    """Open a place for each piece of work that counts no more; returns how many have changed.

    That of a vote where a question of its HIT is not decided and nobody else is asked; that of
    questions and of a second reading in any case. Each is replaced once, in open stages; where
    its worker counts again, the new place goes unless somebody has taken it.
    """
    parameters = parameters_of(collection)
    asking = voting_stages(parameters)
    voting = {name for names in asking.values() for name in names} - {*asking}
    read = [name for name, table in parameters.stages().items() if table.sample_questions]
    items = UnitItem.objects.filter(unit=OuterRef("lease__unit"))
    undecided = Q(question__verdict=None) | Q(question__verdict__outcome=Outcome.WAITING)
    out = left_out(collection.pk)
    waits = Q(
        Exists(items.filter(undecided).exclude(made_by(out, "question__"))),
        lease__unit__submitted__gte=F("lease__unit__redundancy"),
        lease__unit__stage__name__in=voting,
    )
    # A ticket for dialogs has no items: those are paired anew by their topics alone.
    wrote = Q(Exists(items), questions__isnull=False, lease__unit__stage__name__in=asking)
    handed_in = Submission.objects.filter(lease__unit__stage__collection=collection)
    back = handed_in.filter(replaced=True).exclude(lease__worker__in=out)
    works = handed_in.filter(
        waits | wrote | Q(lease__unit__stage__name__in=read),
        counts=True,
        replaced=False,
        lease__worker__in=out,
        lease__unit__closed=False,
        lease__unit__stage__state=StageState.OPEN,
    )
    changed = sum(take_back_replacement(pk) for pk in list(back.values_list("pk", flat=True)))
    return changed + sum(replace_work(pk) for pk in set(works.values_list("pk", flat=True)))
