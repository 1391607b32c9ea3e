"""What partners say: each move is checked by the rules, and stored once however often sent."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction

from tasks.dialog import rules
from tasks.dialog.rules import Ending, Refused, Reply, Role
from tasks.dialog.sections import section_of
from tasks.dialog.transcript import add_answer, add_question, locked
from tasks.models import Dialog, DialogState, PartnerReport, Ticket


@dataclass(frozen=True)
class Move:
    """A dialog as it stands after a move, its row locked until the transaction ends."""

    row: Dialog
    state: rules.Dialog


def ask(dialog_id: int, ticket: Ticket, message: UUID, text: str, now: datetime) -> Move:
    """Store the student's question; the same message again changes nothing. Raises Refused."""
    with transaction.atomic():
        so_far = locked(dialog_id)
        if message in so_far.messages:
            return Move(so_far.row, so_far.state)
        _check_role(so_far.row, ticket, Role.STUDENT)
        moved = rules.ask(so_far.state, text, so_far.limits)
        number = len(so_far.state.turns)
        add_question(so_far.row, number, moved.turns[-1].question, message, now)
    return Move(so_far.row, moved)


def reply(dialog_id: int, ticket: Ticket, message: UUID, answer: Reply, now: datetime) -> Move:
    """Store the teacher's answer; the same message again changes nothing. Raises Refused."""
    with transaction.atomic():
        so_far = locked(dialog_id)
        if message in so_far.messages:
            return Move(so_far.row, so_far.state)
        _check_role(so_far.row, ticket, Role.TEACHER)
        tokens = section_of(so_far.row.topic.seed_id).tokens
        moved = rules.answer(so_far.state, answer, tokens, so_far.limits)
        add_answer(so_far.row, len(so_far.state.turns) - 1, answer, message, now)
        return _store_end(so_far.row, moved, now)


def end(dialog_id: int, role: Role, ending: Ending, now: datetime) -> Move:
    """End the dialog as `role`; one that is over already stays as it is."""
    with transaction.atomic():
        so_far = locked(dialog_id)
        if so_far.state.ending:
            return Move(so_far.row, so_far.state)
        return _store_end(so_far.row, rules.end(so_far.state, role, ending), now)


def report(dialog_id: int, ticket: Ticket, reason: str, note: str, now: datetime) -> Move:
    """End the dialog and put what one partner says of the other before the requester; once."""
    with transaction.atomic():
        so_far = locked(dialog_id)
        row, role = so_far.row, role_of(so_far.row, ticket)
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
        if so_far.state.ending:
            return Move(row, so_far.state)
        return _store_end(row, rules.end(so_far.state, role, Ending.REPORTED), now)


def role_of(dialog: Dialog, ticket: Ticket) -> Role:
    """Return the role that the ticket's holder has in the dialog."""
    return Role.STUDENT if dialog.student_ticket_id == ticket.pk else Role.TEACHER


def _check_role(row: Dialog, ticket: Ticket, wanted: Role) -> None:
    """Raise Refused unless the ticket's holder has the role, in a dialog that goes on."""
    if ticket.pk not in (row.student_ticket_id, row.teacher_ticket_id):
        raise Refused("This is not your dialog.")
    if row.state == DialogState.CHECKING:
        raise Refused("Your partner is not there yet; wait until both are.")
    if role_of(row, ticket) is not wanted:
        raise Refused(f"Only the {wanted} can do that.")


def _store_end(row: Dialog, state: rules.Dialog, now: datetime) -> Move:
    """Store how a dialog has ended, if it has."""
    if state.ending:
        row.moved_at, row.state, row.ended_at = now, DialogState.OVER, now
        row.ending, row.ended_by = state.ending.value, state.ended_by or ""
        row.save(update_fields=["moved_at", "state", "ended_at", "ending", "ended_by"])
    return Move(row, state)
