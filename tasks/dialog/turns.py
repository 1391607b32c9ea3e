"""What partners say: each move is checked by the rules, and stored once however often sent."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction

from collector.creation import parameters_of
from tasks.dialog import rules
from tasks.dialog.limits import limits_of
from tasks.dialog.rules import Ending, Refused, Reply, Role
from tasks.dialog.sections import section_of
from tasks.models import Dialog, DialogState, PartnerReport, Ticket, Turn


@dataclass(frozen=True)
class Move:
    """A dialog as it stands after a move, its row locked until the transaction ends."""

    row: Dialog
    state: rules.Dialog


def ask(dialog_id: int, ticket: Ticket, message: UUID, text: str, now: datetime) -> Move:
    """Store the student's question; the same message again changes nothing. Raises Refused."""
    with transaction.atomic():
        row, state = _read(dialog_id)
        if row.turns.filter(question_message=message).exists():
            return Move(row, state)
        _check_role(row, ticket, Role.STUDENT)
        moved = rules.ask(state, text, _limits(row))
        Turn.objects.create(
            dialog=row,
            number=len(state.turns),
            question=moved.turns[-1].question,
            question_message=message,
            asked_at=now,
        )
        return _store(row, moved, now)


def reply(dialog_id: int, ticket: Ticket, message: UUID, answer: Reply, now: datetime) -> Move:
    """Store the teacher's answer; the same message again changes nothing. Raises Refused."""
    with transaction.atomic():
        row, state = _read(dialog_id)
        if row.turns.filter(answer_message=message).exists():
            return Move(row, state)
        _check_role(row, ticket, Role.TEACHER)
        moved = rules.answer(state, answer, section_of(row.topic.seed_id).tokens, _limits(row))
        Turn.objects.filter(dialog=row, number=len(state.turns) - 1).update(
            start=answer.start,
            end=answer.end,
            continuation=answer.continuation,
            affirmation=answer.affirmation,
            answer_message=message,
            answered_at=now,
        )
        return _store(row, moved, now)


def end(dialog_id: int, role: Role, ending: Ending, now: datetime) -> Move:
    """End the dialog as `role`; one that is over already stays as it is."""
    with transaction.atomic():
        row, state = _read(dialog_id)
        if state.ending:
            return Move(row, state)
        return _store(row, rules.end(state, role, ending), now)


def report(dialog_id: int, ticket: Ticket, reason: str, note: str, now: datetime) -> Move:
    """End the dialog and put what one partner says of the other before the requester; once."""
    with transaction.atomic():
        row, state = _read(dialog_id)
        role = role_of(row, ticket)
        PartnerReport.objects.get_or_create(
            dialog=row,
            reporter_id=ticket.worker_id,
            defaults={
                "reported_id": row.teacher_id if role is Role.STUDENT else row.student_id,
                "reason": reason,
                "note": note,
                "at": now,
            },
        )
        if state.ending:
            return Move(row, state)
        return _store(row, rules.end(state, role, Ending.REPORTED), now)


def role_of(dialog: Dialog, ticket: Ticket) -> Role:
    """Return the role that the ticket's holder has in the dialog."""
    return Role.STUDENT if dialog.student_ticket_id == ticket.pk else Role.TEACHER


def state_of(row: Dialog) -> rules.Dialog:
    """Return what the dialog's rows say, for the rules to judge."""
    return rules.Dialog(
        turns=tuple(
            rules.Turn(
                turn.question,
                Reply(turn.start, turn.end, turn.continuation, turn.affirmation)
                if turn.answered_at
                else None,
            )
            for turn in row.turns.order_by("number")
        ),
        ending=Ending(row.ending) if row.ending else None,
        ended_by=Role(row.ended_by) if row.ended_by else None,
    )


def _read(dialog_id: int) -> tuple[Dialog, rules.Dialog]:
    row = (
        Dialog.objects.select_for_update(of=("self",), no_key=True)
        .select_related("stage__collection", "topic")
        .get(pk=dialog_id)
    )
    return row, state_of(row)


def _check_role(row: Dialog, ticket: Ticket, wanted: Role) -> None:
    """Raise Refused unless the ticket's holder has the role, in a dialog that goes on."""
    if ticket.pk not in (row.student_ticket_id, row.teacher_ticket_id):
        raise Refused("This is not your dialog.")
    if row.state == DialogState.CHECKING:
        raise Refused("Your partner is not there yet; wait until both are.")
    if role_of(row, ticket) is not wanted:
        raise Refused(f"Only the {wanted} can do that.")


def _store(row: Dialog, state: rules.Dialog, now: datetime) -> Move:
    row.moved_at = now
    if state.ending:
        row.state, row.ended_at = DialogState.OVER, now
        row.ending, row.ended_by = state.ending.value, state.ended_by or ""
    row.save(update_fields=["moved_at", "state", "ended_at", "ending", "ended_by"])
    return Move(row, state)


def _limits(row: Dialog) -> rules.Limits:
    return limits_of(parameters_of(row.stage.collection).stages()[row.stage.name])
