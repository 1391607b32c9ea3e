"""What one partner may see of a dialog; a student never gets a word of the section but answers."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Q

from collector.protocols.stage_tables import DialogTable
from common.committed_cache import kept_once_committed
from tasks.dialog.dialog_state import DialogSnapshot, TicketView
from tasks.dialog.moves import role_of
from tasks.dialog.presence import is_present, seconds_waited
from tasks.models import Dialog, DialogState, PartnerReport, Ticket, TicketState
from tasks.work import dialog_rules as rules
from tasks.work.dialog_rules import Ending, Role
from tasks.work.passages import Section

# The number of dialogs, not broken off, that tell how long one usually is.
USUAL_OF = 50
LEAST_PEOPLE = 10
# In a dialog that nobody has.
NOBODYS_QUESTION = "Here stands the first question of a student."


def page_state(view: TicketView, now: datetime) -> dict[str, Any]:
    """Return the whole state of the holder's page, to be sent as it is."""
    ticket, table, limits = view.ticket, view.context.table, view.context.limits
    state: dict[str, Any] = {
        "phase": str(ticket.state),
        "now": now.isoformat(),
        "earned": _earned(view, now),
    }
    last = view.dialogs[-1] if view.dialogs else None
    if ticket.state == TicketState.WAITING:
        state["waiting"] = _waiting(ticket, last, table, limits, now)
    elif last:
        state["dialog"] = _dialog(last, ticket, table, limits, now)
    return state


def change_of(view: TicketView, now: datetime) -> dict[str, Any]:
    """Return what a move has changed in the state of the holder's page, which makes one of both.

    The ticket's last dialog goes on, and its last turn is what has been said.
    """
    last, role = view.dialogs[-1], role_of(view.dialogs[-1].row, view.ticket)
    number = len(last.state.turns) - 1
    return {
        "now": now.isoformat(),
        "earned": _earned(view, now),
        "dialog": _moving(last, view.context.table, view.context.limits, now),
        "turn": _turn(number, last.state.turns[number], last.read_section(), role),
    }


def _earned(view: TicketView, now: datetime) -> dict[str, int]:
    """Return what the holder has earned so far, in cents, by what it is for."""
    table, limits = view.context.table, view.context.limits
    waited = min(seconds_waited(view.ticket, now), 60 * table.wait_minutes)
    answered = [dialog.state.completed for dialog in view.dialogs]
    return {
        "reward_cents": view.context.reward_cents,
        "waiting_cents": waited * table.wait_cents_per_minute // 60,
        "turns_cents": sum(rules.earned_cents(completed, limits) for completed in answered),
        "turns": sum(answered),
    }


def _waiting(
    ticket: Ticket,
    last: DialogSnapshot | None,
    table: DialogTable,
    limits: rules.Limits,
    now: datetime,
) -> dict[str, Any]:
    left = timedelta(minutes=table.wait_minutes) - timedelta(seconds=ticket.waited_seconds)
    return {
        "since": ticket.waiting_since.isoformat(),
        "until": (ticket.waiting_since + left).isoformat(),
        "waited_seconds": ticket.waited_seconds,
        "wait_minutes": table.wait_minutes,
        "cents_per_minute": table.wait_cents_per_minute,
        "ready_seconds": table.ready_seconds,
        "first_cents": limits.pay_cents[0],
        "last_cents": rules.earned_cents(limits.max_questions, limits)
        - rules.earned_cents(limits.max_questions - 1, limits),
        "most_cents": rules.most_cents(limits),
        "max_questions": limits.max_questions,
        "usual_questions": _usual(ticket.stage_id, now.replace(second=0, microsecond=0)),
        "after": _after(last, ticket),
    }


def _after(last: DialogSnapshot | None, ticket: Ticket) -> dict[str, Any] | None:
    """Return how the dialog before this wait ended, None before the first."""
    if last is None:
        return None
    row = last.row
    return {"id": row.pk, "ending": row.ending, "by_me": row.ended_by == role_of(row, ticket)}


@kept_once_committed(64)
def _usual(stage_id: int, minute: datetime) -> int | None:
    """Return how many questions a dialog of people usually has; None until ten people have had one.

    Looked up once a minute.
    """
    whole = (Ending.ALL_ASKED.value, Ending.UNANSWERABLE.value, Ending.ENDED.value)
    people = Dialog.objects.filter(
        stage=stage_id, ending__in=whole, student__synthetic=False, teacher__synthetic=False
    ).order_by("-id")
    pairs = list(people.values_list("pk", "student", "teacher")[:USUAL_OF])
    if len({person for _, *both in pairs for person in both}) < LEAST_PEOPLE:
        return None
    answered = Count("turns", filter=Q(turns__answered_at__isnull=False))
    dialogs = Dialog.objects.filter(pk__in=[pk for pk, *_ in pairs])
    said = sorted(dialogs.annotate(n=answered).values_list("n", flat=True))
    return said[len(said) // 2]


def _dialog(
    dialog: DialogSnapshot, ticket: Ticket, table: DialogTable, limits: rules.Limits, now: datetime
) -> dict[str, Any]:
    row, turns = dialog.row, dialog.state.turns
    role = role_of(row, ticket)
    section = dialog.read_section()
    shown = {
        "id": row.pk,
        "role": str(role),
        "title": section.title,
        "heading": section.heading,
        "background": section.background,
        "language": section.language,
        "direction": section.direction,
        "turns": [_turn(number, turn, section, role) for number, turn in enumerate(turns)],
        "ending": row.ending or None,
        "ended_by_me": row.ended_by == role,
        "reported": bool(row.ending)
        and PartnerReport.objects.filter(dialog=row.pk, reporter=ticket.worker_id).exists(),
        "ready": ticket.ready,
        **_moving(dialog, table, limits, now),
        "max_questions": limits.max_questions,
        "max_question_characters": limits.max_question_characters,
        "min_pairs": limits.min_pairs,
    }
    if role is Role.TEACHER:
        shown |= {
            "section": section.text,
            "tokens": section.tokens,
            "paragraphs": section.paragraphs,
            "max_span_tokens": limits.max_span_tokens,
        }
    return shown


def _moving(
    dialog: DialogSnapshot, table: DialogTable, limits: rules.Limits, now: datetime
) -> dict[str, Any]:
    """Return what every move changes, but for the turns."""
    turns, completed = dialog.state.turns, dialog.state.completed
    earned = rules.earned_cents(completed, limits)
    is_on = dialog.row.state == DialogState.TALKING
    return {
        # Of nobody before both are there, and when it is over.
        "to_move": str(dialog.state.to_move) if is_on else None,
        **_presence(dialog, table, now),
        "completed": completed,
        "next_cents": rules.earned_cents(completed + 1, limits) - earned,
        "questions_left": limits.max_questions - len(turns),
        "unanswerable_left": max(0, limits.max_unanswerable - dialog.state.unanswerable),
    }


def trial_state(table: DialogTable, seed_id: int, role: Role, now: datetime) -> dict[str, Any]:
    """Return the state of a dialog that nobody has, for a requester to look at: the role's move."""
    limits = rules.limits_of(table)
    signs = {"state": TicketState.TALKING, "seen_at": now, "connections": 1, "ready": True}
    student, teacher = (Ticket(pk=number, **signs) for number in (1, 2))
    row = Dialog(
        pk=0,
        student_ticket_id=student.pk,
        teacher_ticket_id=teacher.pk,
        state=DialogState.TALKING,
        began_at=now,
        moved_at=now,
    )
    asks = role is Role.STUDENT
    said = rules.Dialog(() if asks else (rules.Turn(NOBODYS_QUESTION),))
    dialog = DialogSnapshot(row, seed_id, teacher if asks else student, said)
    shown = _dialog(dialog, student if asks else teacher, table, limits, now)
    earned = {"reward_cents": table.reward_cents, "waiting_cents": 0, "turns_cents": 0, "turns": 0}
    return {
        "phase": str(TicketState.TALKING),
        "now": now.isoformat(),
        "earned": earned,
        "dialog": shown,
    }


def _presence(dialog: DialogSnapshot, table: DialogTable, now: datetime) -> dict[str, Any]:
    """Return whether the partner is there, and until when who is waited for."""
    row, partner = dialog.row, dialog.partner
    present = is_present(partner, now)
    shown: dict[str, Any] = {"partner_present": present, "until": None}
    if row.state == DialogState.CHECKING:
        until = row.began_at + timedelta(seconds=table.ready_seconds)
    elif row.state == DialogState.TALKING:
        until = row.moved_at + timedelta(minutes=table.move_minutes)
    else:
        return shown
    if not present and partner.seen_at:
        back_until = partner.seen_at + timedelta(seconds=table.grace_seconds)
        shown["back_until"] = back_until.isoformat()
    return {**shown, "until": until.isoformat()}


def _turn(number: int, turn: rules.Turn, section: Section, role: Role) -> dict[str, Any]:
    shown: dict[str, Any] = {"number": number, "question": turn.question, "answer": None}
    reply = turn.reply
    if reply is None:
        return shown
    answer: dict[str, Any] = {
        "text": None,
        "continuation": reply.continuation,
        "affirmation": reply.affirmation,
    }
    if reply.start is not None and reply.end is not None:
        answer["text"] = section.text[reply.start : reply.end]
    if role is Role.TEACHER:
        # Where an answer stands would tell the student how long the text before it is.
        answer |= {"start": reply.start, "end": reply.end}
    return {**shown, "answer": answer}
