"""The one store of moves: each is judged by the rules, and stored once however often it is sent.

A move is judged by what its sender saw last, and stored by a statement that changes nothing where
the dialog is not as it was seen any more; then it is judged again by the rows.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from common.prepared_sql import change
from tasks.dialog import rules
from tasks.dialog.dialog_state import DialogSnapshot, TicketView, view_of
from tasks.dialog.messages import OUT_OF_DATE
from tasks.dialog.rules import Ending, Refused, Reply, Role
from tasks.dialog.sections import section_of
from tasks.models import Dialog, DialogState, PartnerReport, Ticket

# Locks the dialog: nobody can end it in between.
GO_ON = "UPDATE tasks_dialog SET moved_at = %(now)s WHERE id = %(dialog)s AND state = 'talking'"
# Both are for the dialog in {moved}, a table of its id or of nothing. Somebody else's question of
# that number is a conflict, somebody else's answer leaves no row.
ASK = """
INSERT INTO tasks_turn
    (dialog_id, number, question, question_message, asked_at, continuation, affirmation)
SELECT id, %(number)s, %(question)s, %(message)s, %(now)s, '', '' FROM {moved} WHERE true
ON CONFLICT DO NOTHING
"""
ANSWER = """
UPDATE tasks_turn SET start = %(start)s, "end" = %(end)s, continuation = %(continuation)s,
    affirmation = %(affirmation)s, answer_message = %(message)s, answered_at = %(now)s
FROM {moved} WHERE dialog_id = moved.id AND number = %(number)s AND answered_at IS NULL
"""
END = """
UPDATE tasks_dialog SET state = 'over', moved_at = %(now)s, ended_at = %(now)s,
    ending = %(ending)s, ended_by = %(by)s
WHERE id = %(dialog)s AND state <> 'over'
"""
# Whoever loses against another move of the same dialog so often is told to try again.
TRIES = 5
BUSY = "The dialog has just gone on; look at it, and send this again."
# A dialog with the move made, and the values of the turn to be stored. Raises Refused.
Judge = Callable[[TicketView, DialogSnapshot], tuple[rules.Dialog, dict[str, Any]]]


def ask(seen: TicketView, dialog_id: int, message: UUID, text: str, now: datetime) -> TicketView:
    """Store the student's question and return the view with it; raises Refused.

    seen: the sender's ticket as it was looked at last. The same message again changes nothing.
    """

    def judge(view: TicketView, dialog: DialogSnapshot) -> tuple[rules.Dialog, dict[str, Any]]:
        _check_role(dialog.row, view.ticket, Role.STUDENT)
        moved = rules.ask(dialog.state, text, view.context.limits)
        return moved, {"question": moved.turns[-1].question}

    return _make(seen, dialog_id, message, ASK, judge, now)


def answer(
    seen: TicketView, dialog_id: int, message: UUID, reply: Reply, now: datetime
) -> TicketView:
    """Store the teacher's answer and return the view with it; raises Refused.

    seen: the sender's ticket as it was looked at last. The same message again changes nothing. The
    last answer ends the dialog, which then is to be settled.
    """

    def judge(view: TicketView, dialog: DialogSnapshot) -> tuple[rules.Dialog, dict[str, Any]]:
        _check_role(dialog.row, view.ticket, Role.TEACHER)
        tokens = section_of(dialog.seed_id).tokens
        return rules.answer(dialog.state, reply, tokens, view.context.limits), vars(reply)

    return _make(seen, dialog_id, message, ANSWER, judge, now)


def end(dialog_id: int, role: Role, ending: Ending, now: datetime) -> Dialog:
    """End the dialog as `role` and return its row; one that is over already stays as it is."""
    # Refuses the endings that only moves bring.
    rules.end(rules.Dialog(), role, ending)
    change(END, dialog=dialog_id, ending=ending.value, by=role.value, now=now)
    return Dialog.objects.get(pk=dialog_id)


def report(dialog_id: int, ticket: Ticket, reason: str, note: str, now: datetime) -> Dialog:
    """End the dialog, and put what one partner says of the other before the requester; once."""
    with transaction.atomic():
        row = Dialog.objects.get(pk=dialog_id)
        role = role_of(row, ticket)
        row = end(dialog_id, role, Ending.REPORTED, now)
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
    return row


def role_of(dialog: Dialog, ticket: Ticket) -> Role:
    """Return the role that the ticket's holder has in the dialog."""
    return Role.STUDENT if dialog.student_ticket_id == ticket.pk else Role.TEACHER


def _make(
    seen: TicketView, dialog_id: int, message: UUID, sql: str, judge: Judge, now: datetime
) -> TicketView:
    """Judge a move by what was seen, and by the rows where that does not hold any more."""
    sent = message if connection.features.has_native_uuid_field else message.hex
    view = seen
    for attempt in range(TRIES):
        if attempt:
            view = view_of(view.ticket.pk, view)
        dialog = view.dialog(dialog_id)
        try:
            if dialog is None:
                raise Refused(OUT_OF_DATE)
            if sent in dialog.messages:
                return view
            moved, values = judge(view, dialog)
        except Refused:
            if attempt:
                raise
            continue
        if _store(dialog, moved, sql, values | {"message": sent, "now": now}):
            after = replace(dialog, state=moved, messages=dialog.messages | {sent})
            return replace(
                view, dialogs=[after if each is dialog else each for each in view.dialogs]
            )
    raise Refused(BUSY)


def _store(dialog: DialogSnapshot, moved: rules.Dialog, sql: str, values: dict[str, Any]) -> bool:
    """Return whether the dialog was as it was seen: then the move is stored, else nothing is."""
    row = dialog.row
    values |= {"dialog": row.pk, "number": len(moved.turns) - 1}
    if connection.vendor == "postgresql" and not moved.ending:
        one = f"WITH moved AS ({GO_ON} RETURNING id) {sql.format(moved='moved')}"
        stored = change(one, **values) == 1
    else:
        stored = _store_step_by_step(moved, sql, values)
    if stored:
        row.moved_at = values["now"]
        if moved.ending:
            row.state, row.ended_at = DialogState.OVER, row.moved_at
            row.ending, row.ended_by = moved.ending.value, moved.ended_by or ""
    return stored


def _store_step_by_step(moved: rules.Dialog, sql: str, values: dict[str, Any]) -> bool:
    """Store a move by several statements: where the dialog ends with it, or one cannot do it."""
    with transaction.atomic():
        moved_sql = sql.format(moved="(SELECT %(dialog)s AS id) AS moved")
        if change(GO_ON, **values) and change(moved_sql, **values) == 1:
            if moved.ending:
                change(END, ending=moved.ending.value, by=moved.ended_by or "", **values)
            return True
        transaction.set_rollback(True)
    return False


def _check_role(row: Dialog, ticket: Ticket, wanted: Role) -> None:
    """Raise Refused unless the ticket's holder has the role, in a dialog that has begun."""
    if row.state == DialogState.CHECKING:
        raise Refused("Your partner is not there yet; wait until both are.")
    if role_of(row, ticket) is not wanted:
        raise Refused(f"Only the {wanted} can do that.")
