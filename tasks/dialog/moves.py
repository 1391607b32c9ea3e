"""Moves of dialogs: each is judged by the rules, and stored once even if it is sent again.

A move is judged by what its sender saw last. The statement that stores it changes nothing if the
dialog has changed since then; in this case the move is judged again by the rows. Moves of many
dialogs are stored in one commit: by one statement in PostgreSQL, by three in SQLite.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from django.db import connection, transaction

from common.prepared_sql import change, execute
from tasks.dialog.dialog_state import DialogSnapshot, TicketView, view_of
from tasks.models import Dialog, DialogState, PartnerReport, Ticket
from tasks.work import dialog_rules as rules
from tasks.work.dialog_rules import Ending, Refused, Reply, Role

END = """
UPDATE tasks_dialog SET state = 'over', moved_at = %(now)s, ended_at = %(now)s,
    ending = %(ending)s, ended_by = %(by)s
WHERE id = %(dialog)s AND state <> 'over'
"""
# PostgreSQL stores moves of many dialogs by this statement, which returns the stored messages. A
# conflict means that the turn has another question. An answer to an answered turn finds no row.
# Statements that lock many dialogs lock them in the order of their ids.
STORE = """
WITH given AS (
    SELECT (value->>0)::bigint AS dialog, (value->>1)::int AS number, (value->>2)::uuid AS message,
        (value->>3)::timestamptz AS at, value->>4 AS question, (value->>5)::int AS "from",
        (value->>6)::int AS upto, value->>7 AS continuation, value->>8 AS affirmation,
        value->>9 AS ending
    FROM json_array_elements(%s::json)
), going AS MATERIALIZED (
    SELECT id FROM tasks_dialog WHERE id IN (SELECT dialog FROM given) AND state = 'talking'
    ORDER BY id FOR NO KEY UPDATE
), asked AS (
    INSERT INTO tasks_turn
        (dialog_id, number, question, question_message, asked_at, continuation, affirmation)
    SELECT dialog, number, question, message, at, '', ''
    FROM given JOIN going ON going.id = dialog WHERE question IS NOT NULL
    ON CONFLICT DO NOTHING RETURNING dialog_id, question_message AS message
), answered AS (
    UPDATE tasks_turn SET start = given."from", "end" = given.upto,
        continuation = given.continuation, affirmation = given.affirmation,
        answer_message = given.message, answered_at = given.at
    FROM given JOIN going ON going.id = given.dialog
    WHERE given.question IS NULL AND dialog_id = given.dialog
        AND tasks_turn.number = given.number AND answered_at IS NULL
    RETURNING dialog_id, answer_message AS message
), stored AS (
    SELECT * FROM asked UNION ALL SELECT * FROM answered
), moved AS (
    UPDATE tasks_dialog SET moved_at = given.at, ending = given.ending,
        state = CASE given.ending WHEN '' THEN state ELSE 'over' END,
        ended_at = CASE given.ending WHEN '' THEN NULL ELSE given.at END
    FROM given JOIN stored ON stored.dialog_id = given.dialog AND stored.message = given.message
    WHERE tasks_dialog.id = given.dialog
) SELECT * FROM stored
"""
# SQLite needs three statements. None locks rows: a transaction that writes locks the database.
GIVEN = """
(SELECT json_extract(value, '$[0]') AS dialog, json_extract(value, '$[1]') AS number,
    json_extract(value, '$[2]') AS message, json_extract(value, '$[3]') AS at,
    json_extract(value, '$[4]') AS question, json_extract(value, '$[5]') AS "from",
    json_extract(value, '$[6]') AS upto, json_extract(value, '$[7]') AS continuation,
    json_extract(value, '$[8]') AS affirmation, json_extract(value, '$[9]') AS ending
FROM json_each(%(given)s)) given
"""
GOING = f"{GIVEN} JOIN tasks_dialog going ON going.id = given.dialog AND going.state = 'talking'"
ASK_IN_SQLITE = f"""
INSERT INTO tasks_turn
    (dialog_id, number, question, question_message, asked_at, continuation, affirmation)
SELECT dialog, number, question, message, at, '', '' FROM {GOING} WHERE question IS NOT NULL
ON CONFLICT DO NOTHING RETURNING dialog_id, question_message
"""
ANSWER_IN_SQLITE = f"""
UPDATE tasks_turn SET start = given."from", "end" = given.upto, continuation = given.continuation,
    affirmation = given.affirmation, answer_message = given.message, answered_at = given.at
FROM {GOING} WHERE given.question IS NULL AND dialog_id = given.dialog
    AND tasks_turn.number = given.number AND answered_at IS NULL
RETURNING dialog_id, answer_message
"""
MOVE_IN_SQLITE = f"""
UPDATE tasks_dialog SET moved_at = given.at, ending = given.ending,
    state = CASE given.ending WHEN '' THEN state ELSE 'over' END,
    ended_at = CASE given.ending WHEN '' THEN NULL ELSE given.at END
FROM {GIVEN} WHERE tasks_dialog.id = given.dialog
"""
# Retries after a lost race with another move before the sender is asked to send it again.
TRIES = 5
OUT_OF_DATE = "This page is out of date; reload it."
BUSY = "The dialog has just gone on; look at it, and send this again."


@dataclass(frozen=True)
class Move:
    """A question or an answer as a page sends it; `message` is the page's own id for it."""

    dialog_id: int
    message: UUID
    said: str | Reply


@dataclass(frozen=True)
class StoredMove:
    """What a stored move changes in a dialog that goes on, for a view from before the move.

    `before` is the dialog's place before the move, `message` the move's id as the database stores
    it, `turn` the turn that it began or completed.
    """

    dialog_id: int
    message: object
    before: rules.Place
    turn: rules.Turn
    now: datetime

    @classmethod
    def from_json(cls, said: Any) -> "StoredMove":
        """Return the move from fields that another process sent; raises ValueError or TypeError."""
        dialog_id, message, before, (question, reply), now = said
        message = UUID(message) if connection.features.has_native_uuid_field else message
        turn = rules.Turn(question, Reply(*reply) if reply else None)
        return cls(dialog_id, message, tuple(before), turn, datetime.fromisoformat(now))

    def as_json(self) -> list[Any]:
        """Return the fields to send to other processes."""
        reply = self.turn.reply
        said = [self.turn.question, list(vars(reply).values()) if reply else None]
        return [self.dialog_id, str(self.message), self.before, said, self.now.isoformat()]


@dataclass(frozen=True)
class JudgedMove:
    """A move that the rules allow, with the dialog as it is once the move is stored.

    `before` is the dialog's place before the move, `message` the move's id as the database stores
    it. `is_new` is False if the move had been stored before.
    """

    view: TicketView
    dialog: DialogSnapshot
    before: rules.Place
    message: object
    now: datetime
    is_new: bool = True

    @property
    def number(self) -> int:
        """Return the number, from 0, of the turn that it begins or completes."""
        return len(self.dialog.state.turns) - 1

    @property
    def stored(self) -> StoredMove:
        """Return the move to send to partners once it is stored, unless it ended the dialog."""
        turn = self.dialog.state.turns[-1]
        return StoredMove(self.dialog.row.pk, self.message, self.before, turn, self.now)

    @property
    def key(self) -> tuple[int, object]:
        """Return the key of the move, which no other move has."""
        return self.dialog.row.pk, self.message


def judge(view: TicketView, move: Move, now: datetime) -> JudgedMove:
    """Return the move as it is to be stored, judged by the sender's `view`.

    Raises Refused.
    """
    dialog = view.dialog(move.dialog_id)
    if dialog is None:
        raise Refused(OUT_OF_DATE)
    sent = move.message if connection.features.has_native_uuid_field else move.message.hex
    if sent in dialog.messages:
        return JudgedMove(view, dialog, dialog.state.place, sent, now, is_new=False)
    said, limits = move.said, view.context.limits
    if isinstance(said, str):
        _check_role(dialog.row, view.ticket, Role.STUDENT)
        state = rules.ask(dialog.state, said, limits)
    else:
        _check_role(dialog.row, view.ticket, Role.TEACHER)
        state = rules.answer(dialog.state, said, dialog.read_section().tokens, limits)
    after = dialog.after(state, sent, now)
    return JudgedMove(view.after(after), after, dialog.state.place, sent, now)


def follow(view: TicketView, made: StoredMove) -> TicketView | None:
    """Return a partner's view after a stored move; None if the view is older or the dialog is over.

    If it is None, the partner's connection reads the rows.
    """
    dialog = view.dialogs[-1] if view.dialogs else None
    if dialog is None or dialog.row.pk != made.dialog_id:
        return None
    if made.message in dialog.messages:
        return view
    if dialog.row.state != DialogState.TALKING or dialog.state.place != made.before:
        return None
    mover = dialog.state.to_move
    after = dialog.after(rules.follow(dialog.state, made.turn), made.message, made.now)
    if mover is not role_of(dialog.row, view.ticket):
        after = after.with_partner_seen(made.now)
    return view.after(after)


async def make(
    seen: TicketView,
    move: Move,
    now: datetime,
    store: Callable[[JudgedMove], Awaitable[bool]],
    read_again: Callable[[TicketView], Awaitable[TicketView]],
) -> JudgedMove:
    """Judge a move by what its sender saw and store it; if that fails, judge it by the rows.

    A message that is sent again changes nothing. The last answer ends the dialog, which must then
    be settled. store: stores the move, and returns False if the dialog has changed. read_again:
    returns the view of the rows as they are now. Raises Refused.
    """
    view = seen
    for n_tries in range(TRIES + 1):
        try:
            judged = judge(view, move, now)
            if not judged.is_new or await store(judged):
                return judged
        except Refused:
            # A move that is refused by the sender's old view may be allowed by the rows.
            if n_tries:
                raise
        view = await read_again(view)
    raise Refused(BUSY)


def make_now(seen: TicketView, move: Move, now: datetime) -> JudgedMove:
    """Do what `make` does without an event loop, for replays. Raises Refused."""

    async def store_alone(judged: JudgedMove) -> bool:
        return store([judged])[0]

    async def read_again(view: TicketView) -> TicketView:
        return view_of(view.ticket.pk, view)

    # Neither function waits for anything, so that the coroutine ends in its first step.
    try:
        make(seen, move, now, store_alone, read_again).send(None)
    except StopIteration as done:
        judged: JudgedMove = done.value
        return judged
    raise AssertionError("A move that waits for nothing has waited.")


def store(moves: Sequence[JudgedMove]) -> list[bool]:
    """Store moves in one commit; return for each move whether it was stored.

    A move is not stored if its dialog has changed since the move was judged.
    """
    in_one_database = (
        _store_in_postgresql if connection.vendor == "postgresql" else _store_in_sqlite
    )
    stored = set(in_one_database(moves))
    return [each.key in stored for each in moves]


def end(dialog_id: int, role: Role, ending: Ending, now: datetime) -> Dialog:
    """End the dialog as `role` and return its row; a dialog that is over stays as it is."""
    # Raises Refused for the endings that only moves cause.
    rules.end(rules.Dialog(), role, ending)
    change(END, dialog=dialog_id, ending=ending.value, by=role.value, now=now)
    return Dialog.objects.get(pk=dialog_id)


def report(dialog_id: int, ticket: Ticket, reason: str, note: str, now: datetime) -> Dialog:
    """End the dialog, and store one partner's report about the other for the requester, once."""
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


def _store_in_postgresql(moves: Sequence[JudgedMove]) -> list[Any]:
    """Store moves by one statement; return the keys of the moves that were stored."""
    # psycopg2 quotes lists value by value, which takes longer than the rest of the statement.
    return execute(STORE, [orjson.dumps(_rows(moves)).decode()])


def _store_in_sqlite(moves: Sequence[JudgedMove]) -> list[Any]:
    """Store moves in one transaction; return the keys of the moves that were stored."""
    adapt = connection.ops.adapt_datetimefield_value
    rows = [
        (dialog, number, message, adapt(at), *said)
        for dialog, number, message, at, *said in _rows(moves)
    ]
    given = {"given": orjson.dumps(rows).decode()}
    with transaction.atomic():
        # A question is a move of the student, after which the teacher has to move.
        n_asked = sum(each.dialog.state.to_move is Role.TEACHER for each in moves)
        stored = execute(ASK_IN_SQLITE, given) if n_asked else []
        stored += execute(ANSWER_IN_SQLITE, given) if n_asked < len(moves) else []
        keys = set(stored)
        moved = [row for row in rows if (row[0], row[2]) in keys]
        change(MOVE_IN_SQLITE, given=orjson.dumps(moved).decode())
    return stored


def _rows(moves: Sequence[JudgedMove]) -> list[tuple[Any, ...]]:
    """Return the values to store for each move; either the question or the answer is None."""
    rows = []
    for each in moves:
        state = each.dialog.state
        turn = state.turns[-1]
        said: tuple[Any, ...] = (turn.question, None, None, None, None)
        if reply := turn.reply:
            said = (None, reply.start, reply.end, reply.continuation, reply.affirmation)
        ending = state.ending.value if state.ending else ""
        place = (each.dialog.row.pk, each.number, each.message, each.now)
        rows.append((*place, *said, ending))
    return rows


def _check_role(row: Dialog, ticket: Ticket, wanted: Role) -> None:
    """Raise Refused unless the ticket's holder has the role, in a dialog that has begun."""
    if row.state == DialogState.CHECKING:
        raise Refused("Your partner is not there yet; wait until both are.")
    if role_of(row, ticket) is not wanted:
        raise Refused(f"Only the {wanted} can do that.")
