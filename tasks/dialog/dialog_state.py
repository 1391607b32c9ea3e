"""Where the holder of a ticket stands: the rows of every look and move, by one statement.

A dialog's turns are values of the rules here (`rules.Turn`), not rows.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from django.db.models import Model

from collector.models import Collection, Stage
from collector.protocols.creation import parameters_of
from collector.protocols.stage_tables import DialogTable
from common.committed_cache import kept_once_committed
from common.prepared_sql import JoinedQuery, Table, execute, given_rows
from tasks.models import Dialog, DialogState, Lease, Posting, Session, Ticket, Topic
from tasks.work import dialog_rules as rules
from tasks.work.dialog_rules import Ending, Reply, Role, limits_of
from tasks.work.kinds.kind import table_as
from tasks.work.passages import Section, section_of

M = TypeVar("M", bound=Model)
TICKET_QUERY = JoinedQuery(
    Table("ticket", Ticket, "id lease_id stage_id worker_id can_ask can_teach state"),
    Table("stage", Stage, "id collection_id name kind", "stage.id = ticket.stage_id"),
    Table(
        "collection",
        Collection,
        "id protocol protocol_version",
        "collection.id = stage.collection_id",
    ),
    Table("lease", Lease, "id session_id", "lease.id = ticket.lease_id"),
    Table("session", Session, "id posting_id", "session.id = lease.session_id"),
    Table("posting", Posting, "id reward_cents", "posting.id = session.posting_id"),
    plain=("collection.parameters",),
)
LINE = (
    Table(
        "ticket",
        Ticket,
        "id lease_id stage_id worker_id state waiting_since waited_seconds connections seen_at"
        " ready reserved_cents",
    ),
    Table(
        "dialog",
        Dialog,
        "id student_ticket_id teacher_ticket_id state ending ended_by began_at moved_at topic_id",
        "dialog.student_ticket_id = ticket.id OR dialog.teacher_ticket_id = ticket.id",
        optional=True,
    ),
    Table("topic", Topic, "id seed_id", "topic.id = dialog.topic_id", optional=True),
    Table(
        "partner",
        Ticket,
        "id connections seen_at",
        "partner.id = dialog.student_ticket_id + dialog.teacher_ticket_id - ticket.id",
        optional=True,
    ),
    Table("lease", Lease, "id state", "lease.id = ticket.lease_id"),
)
SILENT_LINES = JoinedQuery(*LINE)
# One statement for however many: connections keep those that they have seen.
AMONG = f"ticket.id IN ({given_rows('ticket bigint')}) ORDER BY dialog.id"
TURNS = """
SELECT number, question, start, "end", continuation, affirmation
FROM tasks_turn WHERE dialog_id = %s ORDER BY number
"""
# What was asked and answered does not change any more: of the dialog at hand it is not read again.
LINES = JoinedQuery(
    *LINE,
    joined="LEFT JOIN tasks_turn turn ON turn.dialog_id = dialog.id"
    " AND (dialog.id <> %(known)s OR turn.number >= %(since)s)",
    plain=(
        *("turn.number", "turn.question", "turn.start", 'turn."end"', "turn.continuation"),
        *("turn.affirmation", "turn.question_message", "turn.answer_message"),
    ),
)


@dataclass(frozen=True)
class TicketContext:
    """What does not change around a ticket, read once for each socket.

    `ticket` has its stage; `table` is that one's of the parameters, and what dialogs count with in
    it is locked when the collection is published; `reward_cents` is what the HIT pays.
    """

    ticket: Ticket
    table: DialogTable
    limits: rules.Limits
    reward_cents: int


@dataclass(frozen=True)
class DialogSnapshot:
    """One dialog as it was read: what was said in it, about which seed, and who the partner is.

    `messages` are the ids of all messages that said it, as the database keeps them; `section` is
    at hand while the dialog goes on.
    """

    row: Dialog
    seed_id: int
    partner: Ticket
    state: rules.Dialog
    messages: frozenset[object] = frozenset()
    section: Section | None = None

    def read_section(self) -> Section:
        """Return the section, read where it is not at hand."""
        return self.section or section_of(self.seed_id)

    def after(self, state: rules.Dialog, message: object, now: datetime) -> "DialogSnapshot":
        """Return the dialog after a move has brought it to this state."""
        row = _copied(self.row)
        row.moved_at = now
        if state.ending:
            row.state, row.ended_at = DialogState.OVER, now
            row.ending, row.ended_by = state.ending.value, state.ended_by or ""
        messages = self.messages | {message}
        return DialogSnapshot(row, self.seed_id, self.partner, state, messages, self.section)

    def with_partner_seen(self, at: datetime) -> "DialogSnapshot":
        """Return the dialog once its partner has given a sign of being there."""
        partner = _copied(self.partner)
        partner.seen_at, partner.connections = at, max(partner.connections, 1)
        return DialogSnapshot(
            self.row, self.seed_id, partner, self.state, self.messages, self.section
        )


@dataclass(frozen=True)
class TicketView:
    """A ticket as it was read, with its lease and its dialogs, the one that goes on last."""

    context: TicketContext
    ticket: Ticket
    dialogs: list[DialogSnapshot]

    def dialog(self, dialog_id: int) -> DialogSnapshot | None:
        """Return a dialog of the ticket's own, also one that is over; None for that of others."""
        return next((each for each in self.dialogs if each.row.pk == dialog_id), None)

    def after(self, moved: DialogSnapshot) -> "TicketView":
        """Return the view with one of its dialogs as it stands after a move."""
        others = [moved if each.row.pk == moved.row.pk else each for each in self.dialogs]
        return TicketView(self.context, self.ticket, others)


def _copied(row: M) -> M:
    """Return an instance with the same columns; `copy` takes twenty times as long."""
    made = type(row).__new__(type(row))
    made.__dict__.update(row.__dict__)
    return made


def view_of(ticket_id: int, seen: TicketView | None = None) -> TicketView:
    """Return how a ticket and its dialogs stand now; raises Ticket.DoesNotExist.

    seen: how they stood before; what cannot have changed since is not read again.
    """
    context = seen.context if seen else _context_of(ticket_id)
    known = seen.dialogs[-1] if seen and seen.dialogs else None
    kept = [turn for turn in known.state.turns if turn.reply] if known else []
    lines = LINES.all(
        "ticket.id = %(ticket)s ORDER BY dialog.id, turn.number",
        ticket=ticket_id,
        known=known.row.pk if known else 0,
        since=len(kept),
    )
    if not lines:
        raise Ticket.DoesNotExist(f"There is no ticket {ticket_id}.")
    ticket, *_, lease = lines[0][:5]
    ticket.stage, ticket.lease = context.ticket.stage, lease
    return TicketView(context, ticket, _dialogs(lines, known, kept))


def _dialogs(
    lines: list[list[Any]], known: DialogSnapshot | None, kept: list[rules.Turn]
) -> list[DialogSnapshot]:
    """Return the dialogs of these lines; `kept` turns of the one that is known stand in none."""
    found: dict[int, tuple[list[Any], list[rules.Turn], set[object]]] = {}
    for line in lines:
        row, number, said, sent = line[1], line[5], line[6:11], line[11:13]
        if row is None:
            continue
        if row.pk not in found:
            is_known = known is not None and row.pk == known.row.pk
            before = known.messages if known and is_known else ()
            found[row.pk] = (line, [*kept] if is_known else [], set(before))
        if number is not None:
            _, turns, messages = found[row.pk]
            turns.append(_turn(*said))
            messages.update(each for each in sent if each)
    return [
        DialogSnapshot(
            row,
            topic.seed_id,
            partner,
            _state(row, turns),
            frozenset(sent),
            _section(row, topic.seed_id, known),
        )
        for (_, row, topic, partner, *_), turns, sent in found.values()
    ]


def _section(row: Dialog, seed_id: int, known: DialogSnapshot | None) -> Section | None:
    """Return the section of a dialog that goes on; it is not read again."""
    if row.state == DialogState.OVER:
        return None
    at_hand = known.section if known and known.row.pk == row.pk else None
    return at_hand or section_of(seed_id)


def state_of(row: Dialog) -> rules.Dialog:
    """Return what was said in a dialog, and how it has ended, for the rules to judge."""
    return _state(row, [_turn(*said) for _, *said in execute(TURNS, [row.pk])])


def last_lines(ticket_ids: list[int]) -> list[tuple[Ticket, Dialog | None, Ticket | None]]:
    """Return the tickets with the last dialog of each, None before the first, and the partner."""
    found = {}
    for ticket, row, _, partner, _ in SILENT_LINES.all(AMONG, ticket=ticket_ids):
        found[ticket.pk] = (ticket, row, partner)
    return list(found.values())


def dialog_table(stage: Stage) -> DialogTable:
    """Return what the parameters say of a dialog stage; raises ProtocolError for another one."""
    return table_as(parameters_of(stage.collection).stages()[stage.name], DialogTable)


@kept_once_committed(2048)
def _context_of(ticket_id: int) -> TicketContext:
    """Return a ticket's context; raises Ticket.DoesNotExist."""
    found = TICKET_QUERY.first("ticket.id = %(ticket)s", ticket=ticket_id)
    if found is None:
        raise Ticket.DoesNotExist(f"There is no ticket {ticket_id}.")
    ticket, stage, collection, _, _, posting, parameters = found
    ticket.stage, collection.parameters = stage, json.loads(parameters)
    table = table_as(parameters_of(collection).stages()[stage.name], DialogTable)
    return TicketContext(ticket, table, limits_of(table), posting.reward_cents)


def _state(row: Dialog, turns: list[rules.Turn]) -> rules.Dialog:
    return rules.Dialog(
        turns=tuple(turns),
        ending=Ending(row.ending) if row.ending else None,
        ended_by=Role(row.ended_by) if row.ended_by else None,
    )


def _turn(
    question: str, start: int | None, end: int | None, continuation: str, affirmation: str
) -> rules.Turn:
    """Return a turn; an answer has its acts, a question that waits for one has none."""
    reply = Reply(start, end, continuation, affirmation) if continuation else None
    return rules.Turn(question, reply)
