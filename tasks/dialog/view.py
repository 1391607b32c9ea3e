"""What one partner may see of a dialog; a student never gets a word of the section but answers."""

from datetime import datetime, timedelta
from typing import Any

from collector.creation import parameters_of
from tasks.dialog import rules
from tasks.dialog.limits import limits_of
from tasks.dialog.pairing import open_dialog
from tasks.dialog.rules import Role
from tasks.dialog.sections import Section, section_of
from tasks.dialog.turns import role_of, state_of
from tasks.models import Dialog, DialogState, Ticket, TicketState, Turn


def seen_by(ticket: Ticket, now: datetime) -> dict[str, Any]:
    """Return the whole state of the holder's page, to be sent as it is."""
    table: Any = parameters_of(ticket.stage.collection).stages()[ticket.stage.name]
    dialog = open_dialog(ticket) or _last(ticket)
    state: dict[str, Any] = {"phase": str(ticket.state), "now": now.isoformat()}
    if ticket.state == TicketState.WAITING:
        until = ticket.waiting_since + timedelta(minutes=table.wait_minutes)
        state |= {"waiting_since": ticket.waiting_since.isoformat(), "until": until.isoformat()}
    if dialog:
        state["dialog"] = _dialog(dialog, role_of(dialog, ticket), ticket, limits_of(table))
    return state


def _last(ticket: Ticket) -> Dialog | None:
    """Return the dialog that is over, of a ticket that is done."""
    if ticket.state != TicketState.DONE:
        return None
    mine = Dialog.objects.filter(student_ticket=ticket) | Dialog.objects.filter(
        teacher_ticket=ticket
    )
    return mine.order_by("-id").first()


def _dialog(dialog: Dialog, role: Role, ticket: Ticket, limits: rules.Limits) -> dict[str, Any]:
    section = section_of(dialog.topic.seed_id)
    state = state_of(dialog)
    partner = dialog.teacher_ticket if role is Role.STUDENT else dialog.student_ticket
    shown = {
        "id": dialog.pk,
        "role": str(role),
        "title": section.title,
        "heading": section.heading,
        "background": section.background,
        "language": section.language,
        "direction": section.direction,
        "turns": [_turn(turn, section) for turn in dialog.turns.order_by("number")],
        "to_move": state.to_move if dialog.state == DialogState.TALKING else None,
        "ending": state.ending,
        "ended_by_me": state.ended_by == role,
        "ready": ticket.ready,
        "partner_present": partner.connections > 0,
        "completed": state.completed,
        "earned_cents": rules.earned_cents(state.completed, limits),
        "next_cents": rules.earned_cents(state.completed + 1, limits)
        - rules.earned_cents(state.completed, limits),
        "questions_left": limits.max_questions - len(state.turns),
    }
    if role is Role.TEACHER:
        shown |= {"section": section.text, "tokens": section.tokens}
    return shown


def _turn(turn: Turn, section: Section) -> dict[str, Any]:
    said: dict[str, Any] = {"number": turn.number, "question": turn.question, "answer": None}
    if turn.answered_at:
        found = turn.start is not None and turn.end is not None
        said["answer"] = {
            "text": section.text[turn.start : turn.end] if found else None,
            "start": turn.start,
            "end": turn.end,
            "continuation": turn.continuation,
            "affirmation": turn.affirmation,
        }
    return said
