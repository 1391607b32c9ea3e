"""Where the holder of a ticket stands: the rows of every look and move, by a few statements."""

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from collector.creation import parameters_of
from collector.models import Collection, Stage
from tasks.models import Dialog, Lease, Posting, Session, Ticket, Topic
from tasks.statements import Part, Reading, rows

A_TICKET = Reading(
    Part(
        "ticket",
        Ticket,
        "id lease_id stage_id worker_id can_ask can_teach state waiting_since waited_seconds"
        " connections seen_at ready reserved_cents",
    ),
    Part("stage", Stage, "id collection_id name kind", "stage.id = ticket.stage_id"),
    Part(
        "collection",
        Collection,
        "id protocol protocol_version",
        "collection.id = stage.collection_id",
    ),
    Part("lease", Lease, "id session_id", "lease.id = ticket.lease_id"),
    Part("session", Session, "id posting_id", "session.id = lease.session_id"),
    Part("posting", Posting, "id reward_cents", "posting.id = session.posting_id"),
    plain=("collection.parameters",),
)
MINE = "dialog.student_ticket_id = %(ticket)s OR dialog.teacher_ticket_id = %(ticket)s"
DIALOGS = Reading(
    Part(
        "dialog",
        Dialog,
        "id student_ticket_id teacher_ticket_id state ending ended_by began_at moved_at topic_id",
    ),
    Part("topic", Topic, "id seed_id", "topic.id = dialog.topic_id"),
    Part(
        "partner",
        Ticket,
        "id connections seen_at",
        "partner.id = dialog.student_ticket_id + dialog.teacher_ticket_id - %(ticket)s",
    ),
)
TURNS = """
SELECT turn.dialog_id, turn.number, turn.question, turn.start, turn."end", turn.continuation,
    turn.affirmation
FROM tasks_turn turn JOIN tasks_dialog dialog ON dialog.id = turn.dialog_id
WHERE dialog.student_ticket_id = %s OR dialog.teacher_ticket_id = %s
ORDER BY turn.dialog_id, turn.number
"""


@dataclass(frozen=True)
class Holder:
    """A ticket, its stage's table of the parameters, and what its HIT pays by itself."""

    ticket: Ticket
    table: Any
    reward_cents: int


@dataclass(frozen=True)
class Turn:
    """A question and what was answered; before that, `continuation` is empty."""

    number: int
    question: str
    start: int | None
    end: int | None
    continuation: str
    affirmation: str

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


def holder_of(ticket_id: int) -> Holder:
    """Return a ticket with what its stage says; raises Ticket.DoesNotExist."""
    found = A_TICKET.first("ticket.id = %(ticket)s", ticket=ticket_id)
    if found is None:
        raise Ticket.DoesNotExist(f"There is no ticket {ticket_id}.")
    ticket, stage, collection, _, _, posting, parameters = found
    ticket.stage = stage
    protocol = (collection.protocol, collection.protocol_version)
    return Holder(ticket, _table(*protocol, parameters, stage.name), posting.reward_cents)


def dialogs_of(ticket: Ticket) -> list[Told]:
    """Return all dialogs of the ticket with what was said, the one that goes on last."""
    found = DIALOGS.all(f"({MINE}) ORDER BY dialog.id", ticket=ticket.pk)
    said: dict[int, list[Turn]] = {}
    for dialog_id, *turn in rows(TURNS, ticket.pk, ticket.pk) if found else ():
        said.setdefault(dialog_id, []).append(Turn(*turn))
    return [
        Told(row, topic.seed_id, partner, said.get(row.pk, [])) for row, topic, partner in found
    ]


def dialog_of(ticket: Ticket, dialog_id: int) -> Dialog | None:
    """Return a dialog of the ticket's own, also one that is over; None for that of others."""
    found = DIALOGS.first(
        f"({MINE}) AND dialog.id = %(dialog)s", ticket=ticket.pk, dialog=dialog_id
    )
    return found[0] if found else None


@lru_cache(maxsize=64)
def _table(protocol: str, version: int, parameters: str, stage: str) -> Any:
    """Return a stage's table, kept by what its collection's parameters say."""
    collection = Collection(
        protocol=protocol, protocol_version=version, parameters=json.loads(parameters)
    )
    return parameters_of(collection).stages()[stage]
