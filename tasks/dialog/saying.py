"""A move that ends nothing, stored by one statement where the dialog still is as it was seen.

Both partners wait for every move. What does not fit what was seen last changes nothing here: it
is judged under the dialog's lock instead, as everything else is (`turns`).
"""

from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from common.prepared_sql import change
from tasks.dialog import messages, rules
from tasks.dialog.dialog_state import Standing, Told, Turn
from tasks.dialog.limits import limits_of
from tasks.dialog.rules import Refused, Reply, Role
from tasks.dialog.sections import section_of
from tasks.dialog.transcript import stored_id
from tasks.dialog.turns import role_of
from tasks.models import DialogState

# Locks the dialog: nobody can end it in between.
GO_ON = "UPDATE tasks_dialog SET moved_at = %(now)s WHERE id = %(dialog)s AND state = 'talking'"
# Somebody else's question of that number is a conflict, somebody else's answer leaves no row.
ASK = """
INSERT INTO tasks_turn
    (dialog_id, number, question, question_message, asked_at, continuation, affirmation)
SELECT id, %(number)s, %(text)s, %(message)s, %(now)s, '', '' FROM moved WHERE true
ON CONFLICT DO NOTHING
"""
ANSWER = """
UPDATE tasks_turn SET start = %(start)s, "end" = %(end)s, continuation = %(continuation)s,
    affirmation = %(affirmation)s, answer_message = %(message)s, answered_at = %(now)s
FROM moved WHERE dialog_id = moved.id AND number = %(number)s AND answered_at IS NULL
"""


def say(seen: Standing, message: dict[str, Any], now: datetime) -> Standing | None:
    """Return where the holder stands after a question or an answer that is stored now.

    seen: where they stood when they looked last. The same message again changes nothing. None
    where it has to be judged by the rows: nothing was stored then.
    """
    told = seen.dialogs[-1] if seen.dialogs else None
    kind = message.get("type")
    if told is None or kind not in ("ask", "answer") or message.get("dialog") != told.row.pk:
        return None
    try:
        message_id = stored_id(messages.id_of(message))
        if any(message_id in (turn.question_message, turn.answer_message) for turn in told.turns):
            return seen
        if told.row.state != DialogState.TALKING:
            return None
        store = _ask if kind == "ask" else _answer
        turns = store(seen, told, message, message_id, now)
    except Refused:
        return None
    if turns is None:
        return None
    told.row.moved_at = now
    return replace(seen, dialogs=[*seen.dialogs[:-1], replace(told, turns=turns)])


def _ask(
    seen: Standing, told: Told, message: dict[str, Any], message_id: UUID | str, now: datetime
) -> list[Turn] | None:
    """Return the turns with the question, None where it is not stored. Raises Refused."""
    if role_of(told.row, seen.ticket) is not Role.STUDENT:
        return None
    text = messages.question_of(message)
    limits = limits_of(seen.holder.table)
    question = rules.ask(_state(told), text, limits).turns[-1].question
    turn = Turn(len(told.turns), question, None, None, "", "", message_id, None)
    values = {"number": turn.number, "text": question, "message": message_id}
    if not _store(ASK, dialog=told.row.pk, now=now, **values):
        return None
    return [*told.turns, turn]


def _answer(
    seen: Standing, told: Told, message: dict[str, Any], message_id: UUID | str, now: datetime
) -> list[Turn] | None:
    """Return the turns with the answer, None where it is not stored. Raises Refused."""
    if role_of(told.row, seen.ticket) is not Role.TEACHER:
        return None
    reply = messages.reply_of(message)
    limits = limits_of(seen.holder.table)
    moved = rules.answer(_state(told), reply, section_of(told.seed_id).tokens, limits)
    if moved.ending:
        return None
    said = vars(reply)
    turn = replace(told.turns[-1], **said, answer_message=message_id)
    values = {"number": turn.number, "message": message_id, **said}
    if not _store(ANSWER, dialog=told.row.pk, now=now, **values):
        return None
    return [*told.turns[:-1], turn]


def _store(sql: str, **values: Any) -> bool:
    """Return whether the dialog went on and what was said is stored now."""
    if connection.vendor == "postgresql":
        return change(f"WITH moved AS ({GO_ON} RETURNING id) {sql}", **values) == 1
    with transaction.atomic():
        goes_on = change(GO_ON, **values)
        return (
            bool(goes_on)
            and change(f"WITH moved AS (SELECT %(dialog)s AS id) {sql}", **values) == 1
        )


def _state(told: Told) -> rules.Dialog:
    """Return what was said, for the rules to judge."""
    return rules.Dialog(
        turns=tuple(
            rules.Turn(
                turn.question,
                Reply(turn.start, turn.end, turn.continuation, turn.affirmation)
                if turn.answered
                else None,
            )
            for turn in told.turns
        )
    )
