"""Where the holder of a ticket stands: the rows of every look and move, by one statement."""

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from collector.models import Collection, Stage
from collector.protocols.creation import parameters_of
from common.prepared_sql import JoinedQuery, Table
from tasks.models import Dialog, Lease, Posting, Session, Ticket, Topic

A_TICKET = JoinedQuery(
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
)
SILENT_LINES = JoinedQuery(*LINE)
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
class Holder:
    """A ticket's place: its stage, that one's table of the parameters, and what its HIT pays."""

    ticket: Ticket
    table: Any
    reward_cents: int


@dataclass(frozen=True)
class Turn:
    """A question and what was answered; before that, `continuation` is empty.

    The messages that said it are as the database gives them, with hyphens or without.
    """

    number: int
    question: str
    start: int | None
    end: int | None
    continuation: str
    affirmation: str
    question_message: object
    answer_message: object

    @property
    def answered(self) -> bool:
        """Return whether the answer has come; an answer has its acts."""
        return bool(self.continuation)


@dataclass(frozen=True)
class Told:
    """A dialog of the holder's, who the partner is, and what was said."""

    row: Dialog
    seed_id: int
    partner: Ticket
    turns: list[Turn]


@dataclass(frozen=True)
class Standing:
    """A holder with the ticket as it is now, and all its dialogs, the one that goes on last."""

    holder: Holder
    ticket: Ticket
    dialogs: list[Told]

    def dialog(self, dialog_id: int) -> Told | None:
        """Return a dialog of the ticket's own, also one that is over; None for that of others."""
        return next((told for told in self.dialogs if told.row.pk == dialog_id), None)


def holder_of(ticket_id: int) -> Holder:
    """Return a ticket's place; raises Ticket.DoesNotExist."""
    found = A_TICKET.first("ticket.id = %(ticket)s", ticket=ticket_id)
    if found is None:
        raise Ticket.DoesNotExist(f"There is no ticket {ticket_id}.")
    ticket, stage, collection, _, _, posting, parameters = found
    ticket.stage = stage
    protocol = (collection.protocol, collection.protocol_version)
    return Holder(ticket, _table(*protocol, parameters, stage.name), posting.reward_cents)


def standing_of(
    ticket_id: int, holder: Holder | None = None, seen: Standing | None = None
) -> Standing:
    """Return where a ticket's holder stands now; raises Ticket.DoesNotExist.

    holder: its place as it was read before, which hardly ever changes. seen: where the holder
    stood before.
    """
    holder = holder or holder_of(ticket_id)
    known = seen.dialogs[-1] if seen and seen.dialogs else None
    kept = [turn for turn in known.turns if turn.answered] if known else []
    dialog_id = known.row.pk if known else 0
    lines = LINES.all(
        "ticket.id = %(ticket)s ORDER BY dialog.id, turn.number",
        ticket=ticket_id,
        known=dialog_id,
        since=len(kept),
    )
    if not lines:
        raise Ticket.DoesNotExist(f"There is no ticket {ticket_id}.")
    told: dict[int, Told] = {}
    for _, row, topic, partner, *turn in lines:
        if row and row.pk not in told:
            before = kept if row.pk == dialog_id else []
            told[row.pk] = Told(row, topic.seed_id, partner, [*before])
        if row and turn[0] is not None:
            told[row.pk].turns.append(Turn(*turn))
    ticket = lines[0][0]
    ticket.stage = holder.ticket.stage
    return Standing(holder, ticket, list(told.values()))


def last_lines(ticket_ids: list[int]) -> list[tuple[Ticket, Dialog | None, Ticket | None]]:
    """Return the tickets with the last dialog of each, None before the first, and the partner."""
    found = {}
    if ticket_ids:
        wanted = ", ".join(map(str, ticket_ids))
        for ticket, row, _, partner in SILENT_LINES.all(
            f"ticket.id IN ({wanted}) ORDER BY dialog.id"
        ):
            found[ticket.pk] = (ticket, row, partner)
    return list(found.values())


@lru_cache(maxsize=64)
def _table(protocol: str, version: int, parameters: str, stage: str) -> Any:
    """Return a stage's table, kept by what its collection's parameters say."""
    collection = Collection(
        protocol=protocol, protocol_version=version, parameters=json.loads(parameters)
    )
    return parameters_of(collection).stages()[stage]
