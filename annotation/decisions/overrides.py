"""Overrides a verdict by hand and gives it back to its votes: logged, without touching any pay."""

from collections.abc import Set
from copy import copy
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from annotation.agreement.decision import Outcome
from annotation.decisions.counted_work import check_counted, is_counted
from annotation.decisions.verdicts import LEFT_OUT, SAY_WHY, decide_by_votes, lock
from annotation.models import Override, Verdict
from common.actions import ActionError, said
from tasks.models import Answer

REASON = "by_hand"
MAX_SENTENCE = 500
UNUSABLE = "bad"


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
        row.outcome, row.chosen, row.reason, row.overridden = outcome, chosen, REASON, True
        row.agreeing = _agreeing(row)
        row.sentence = _by_hand(note)
        row.decided_at = now
        row.save()
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
    verdict.outcome, verdict.chosen = last.new_outcome, last.new_chosen
    verdict.reason, verdict.overridden = REASON, True
    verdict.agreeing = _agreeing(verdict)
    verdict.sentence = _by_hand(last.note)
    verdict.save()


def _agreeing(verdict: Verdict) -> list[int]:
    """Return the votes that agree with the answer chosen by hand, by id.

    They are those that the agreement found if it is one of them, else itself alone: who agreed with
    another answer has been overruled. None agrees with a correction, which is no vote.
    """
    chosen = verdict.chosen
    if chosen is None or chosen.pk in verdict.agreeing:
        return list(verdict.agreeing)
    return [] if chosen.corrected_by else [chosen.pk]


def _by_hand(note: str) -> str:
    return f"Decided by hand: {note}"[:MAX_SENTENCE]
