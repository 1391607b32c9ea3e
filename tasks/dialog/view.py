"""What one partner may see of a dialog; a student never gets a word of the section but answers."""

from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from django.db.models import Count, Q

from collector.creation import parameters_of
from tasks.dialog import rules
from tasks.dialog.limits import limits_of
from tasks.dialog.rules import Ending, Role
from tasks.dialog.sections import Section, section_of
from tasks.dialog.turns import role_of
from tasks.dialog.waiting import seconds_waited
from tasks.models import Dialog, DialogState, Ticket, TicketState, Turn

# So many dialogs that were not broken off tell how long one usually is.
USUAL_OF = 50


def seen_by(ticket: Ticket, now: datetime) -> dict[str, Any]:
    """Return the whole state of the holder's page, to be sent as it is."""
    table: Any = parameters_of(ticket.stage.collection).stages()[ticket.stage.name]
    limits = limits_of(table)
    dialogs = _dialogs(ticket)
    turns = list(Turn.objects.filter(dialog__in=dialogs).order_by("number"))
    by_dialog = {row.pk: [turn for turn in turns if turn.dialog_id == row.pk] for row in dialogs}
    state: dict[str, Any] = {
        "phase": str(ticket.state),
        "now": now.isoformat(),
        "earned": _earned(ticket, by_dialog, table, limits, now),
    }
    last = dialogs[-1] if dialogs else None
    if ticket.state == TicketState.WAITING:
        state["waiting"] = _waiting(ticket, last, table, limits, now)
    elif last:
        state["dialog"] = _dialog(last, ticket, by_dialog[last.pk], table, limits)
    return state


def _dialogs(ticket: Ticket) -> list[Dialog]:
    """Return all dialogs of the ticket, the one that goes on last."""
    mine = Q(student_ticket=ticket) | Q(teacher_ticket=ticket)
    found = Dialog.objects.filter(mine).select_related("topic", "student_ticket", "teacher_ticket")
    return list(found.order_by("id"))


def _earned(
    ticket: Ticket,
    turns: dict[int, list[Turn]],
    table: Any,
    limits: rules.Limits,
    now: datetime,
) -> dict[str, int]:
    """Return what the holder has earned so far, in cents, by what it is for."""
    waited = min(seconds_waited(ticket, now), 60 * table.wait_minutes)
    said = [sum(turn.answered_at is not None for turn in each) for each in turns.values()]
    return {
        "reward_cents": ticket.lease.session.posting.reward_cents,
        "waiting_cents": waited * table.wait_cents_per_minute // 60,
        "turns_cents": sum(rules.earned_cents(completed, limits) for completed in said),
        "turns": sum(said),
    }


def _waiting(
    ticket: Ticket, last: Dialog | None, table: Any, limits: rules.Limits, now: datetime
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


def _after(last: Dialog | None, ticket: Ticket) -> dict[str, Any] | None:
    """Return how the dialog before this wait ended, None before the first."""
    if last is None:
        return None
    return {"id": last.pk, "ending": last.ending, "by_me": last.ended_by == role_of(last, ticket)}


@lru_cache(maxsize=64)
def _usual(stage_id: int, minute: datetime) -> int | None:
    """Return how many questions a dialog usually has, looked up once a minute; None at first."""
    whole = (Ending.ALL_ASKED.value, Ending.UNANSWERABLE.value, Ending.ENDED.value)
    over = Dialog.objects.filter(stage=stage_id, ending__in=whole).order_by("-id")[:USUAL_OF]
    answered = Count("turns", filter=Q(turns__answered_at__isnull=False))
    said = sorted(
        Dialog.objects.filter(pk__in=list(over.values_list("pk", flat=True)))
        .annotate(n=answered)
        .values_list("n", flat=True)
    )
    return said[len(said) // 2] if said else None


def _dialog(
    row: Dialog, ticket: Ticket, turns: list[Turn], table: Any, limits: rules.Limits
) -> dict[str, Any]:
    role = role_of(row, ticket)
    section = section_of(row.topic.seed_id)
    completed = sum(turn.answered_at is not None for turn in turns)
    none = sum(turn.answered_at is not None and turn.start is None for turn in turns)
    shown = {
        "id": row.pk,
        "role": str(role),
        "title": section.title,
        "heading": section.heading,
        "background": section.background,
        "language": section.language,
        "direction": section.direction,
        "turns": [_turn(turn, section, role) for turn in turns],
        "to_move": _to_move(row, turns),
        "ending": row.ending or None,
        "ended_by_me": row.ended_by == role,
        "reported": bool(row.ending) and row.reports.filter(reporter=ticket.worker_id).exists(),
        "ready": ticket.ready,
        **_presence(row, role, table),
        "completed": completed,
        "earned_cents": rules.earned_cents(completed, limits),
        "next_cents": rules.earned_cents(completed + 1, limits)
        - rules.earned_cents(completed, limits),
        "questions_left": limits.max_questions - len(turns),
        "max_questions": limits.max_questions,
        "unanswerable_left": max(0, limits.max_unanswerable - none),
        "max_question_characters": limits.max_question_characters,
        "min_pairs": limits.min_pairs,
    }
    if role is Role.TEACHER:
        shown |= {
            "section": section.text,
            "tokens": section.tokens,
            "max_span_tokens": limits.max_span_tokens,
        }
    return shown


def _to_move(row: Dialog, turns: list[Turn]) -> str | None:
    """Return whose move it is; None before both are there and when it is over."""
    if row.state != DialogState.TALKING:
        return None
    asked = turns and turns[-1].answered_at is None
    return str(Role.TEACHER if asked else Role.STUDENT)


def _presence(row: Dialog, role: Role, table: Any) -> dict[str, Any]:
    """Return whether the partner is there, and until when who is waited for."""
    partner = row.teacher_ticket if role is Role.STUDENT else row.student_ticket
    shown: dict[str, Any] = {"partner_present": partner.connections > 0, "until": None}
    if row.state == DialogState.CHECKING:
        until = row.began_at + timedelta(seconds=table.ready_seconds)
    elif row.state == DialogState.TALKING:
        until = row.moved_at + timedelta(minutes=table.move_minutes)
    else:
        return shown
    if partner.connections == 0 and partner.seen_at:
        shown["back_until"] = (partner.seen_at + timedelta(seconds=table.grace_seconds)).isoformat()
    return {**shown, "until": until.isoformat()}


def _turn(turn: Turn, section: Section, role: Role) -> dict[str, Any]:
    said: dict[str, Any] = {"number": turn.number, "question": turn.question, "answer": None}
    if not turn.answered_at:
        return said
    answer: dict[str, Any] = {
        "text": None,
        "continuation": turn.continuation,
        "affirmation": turn.affirmation,
    }
    if turn.start is not None and turn.end is not None:
        answer["text"] = section.text[turn.start : turn.end]
    if role is Role.TEACHER:
        # Where an answer stands would tell the student how long the text before it is.
        answer |= {"start": turn.start, "end": turn.end}
    return {**said, "answer": answer}
