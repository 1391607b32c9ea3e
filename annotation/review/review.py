"""Overrides a verdict by hand: logged, with who, when and why, and without touching any pay."""

from datetime import datetime

from django.db import transaction

from annotation.agreement.verdict import Outcome
from annotation.models import Override, Verdict
from tasks.models import Answer

REASON = "by_hand"
MAX_SENTENCE = 500
UNUSABLE = "bad"


class ReviewError(Exception):
    """The override cannot be recorded as asked; the message says what to do."""


def override_verdict(
    verdict: Verdict, outcome: str, chosen: Answer | None, note: str, by: str, now: datetime
) -> Override:
    """Return the logged override that keeps the question with the answer `chosen`, or drops it.

    The verdict follows no vote any more, until a person overrides it again. Raises ReviewError
    for an empty note, an outcome other than kept or dropped, a question kept without an answer of
    its own, or one kept with an answer that calls it bad; then nothing changes.
    """
    note = note.strip()
    if not note:
        raise ReviewError("Say in the note why: whoever reads the dataset's log wants to know.")
    if outcome not in (Outcome.KEPT, Outcome.DROPPED):
        raise ReviewError("Choose an answer to keep the question with, or leave it out.")
    if outcome == Outcome.DROPPED:
        chosen = None
    elif chosen is None or chosen.question_id != verdict.question_id:
        raise ReviewError("Choose one of this question's answers to keep it with.")
    elif chosen.type == UNUSABLE:
        raise ReviewError("This answer says that the question is bad: choose another one.")
    with transaction.atomic():
        row = Verdict.objects.select_for_update().get(pk=verdict.pk)
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
        row.sentence = f"Decided by hand: {note}"[:MAX_SENTENCE]
        row.decided_at = now
        row.save()
    return logged
