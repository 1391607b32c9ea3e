"""The rows of a dialog as every move reads and changes them: statements by hand, a few each time.

Both partners wait for each move, and Django takes several times as long to build a query as the
database to run it.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.db import connection

from collector.models import Collection, Stage
from collector.protocols.creation import parameters_of
from collector.protocols.stage_tables import DialogTable
from common.prepared_sql import JoinedQuery, Table, change, execute
from tasks.dialog import rules
from tasks.dialog.limits import limits_of
from tasks.dialog.rules import Ending, Reply, Role
from tasks.kinds.kind import table_as
from tasks.models import Dialog, Topic

A_DIALOG = JoinedQuery(
    Table(
        "dialog",
        Dialog,
        "id stage_id topic_id student_ticket_id teacher_ticket_id student_id teacher_id state"
        " ending ended_by began_at moved_at ended_at settled",
    ),
    Table("topic", Topic, "id seed_id", "topic.id = dialog.topic_id"),
    Table("stage", Stage, "id name", "stage.id = dialog.stage_id"),
    Table(
        "collection",
        Collection,
        "id protocol protocol_version",
        "collection.id = stage.collection_id",
    ),
    plain=("collection.parameters",),
)
TURNS = """
SELECT question, start, "end", continuation, affirmation, question_message, answer_message
FROM tasks_turn WHERE dialog_id = %s ORDER BY number
"""
ASK = """
INSERT INTO tasks_turn
    (dialog_id, number, question, question_message, asked_at, continuation, affirmation)
VALUES (%(dialog)s, %(number)s, %(question)s, %(message)s, %(now)s, '', '')
"""
ANSWER = """
UPDATE tasks_turn SET start = %(start)s, "end" = %(end)s, continuation = %(continuation)s,
    affirmation = %(affirmation)s, answer_message = %(message)s, answered_at = %(now)s
WHERE dialog_id = %(dialog)s AND number = %(number)s
"""
GO_ON = "UPDATE tasks_dialog SET moved_at = %(now)s WHERE id = %(dialog)s"


@dataclass(frozen=True)
class Transcript:
    """A dialog's row, what was said in it, the messages that said it, and what it may become."""

    row: Dialog
    state: rules.Dialog
    messages: frozenset[UUID]
    limits: rules.Limits


def locked(dialog_id: int) -> Transcript:
    """Return a dialog, its row locked until the transaction ends; raises Dialog.DoesNotExist."""
    lock = " FOR NO KEY UPDATE OF dialog" if connection.features.has_select_for_update else ""
    found = A_DIALOG.first(f"dialog.id = %(dialog)s{lock}", dialog=dialog_id)
    if found is None:
        raise Dialog.DoesNotExist(f"There is no dialog {dialog_id}.")
    row, topic, stage, collection, parameters = found
    row.topic = topic
    said = execute(TURNS, [dialog_id])
    messages = frozenset(UUID(str(each)) for turn in said for each in turn[5:] if each)
    protocol = (collection.protocol, collection.protocol_version)
    return Transcript(row, _state(row, said), messages, _limits(*protocol, parameters, stage.name))


def state_of(row: Dialog) -> rules.Dialog:
    """Return what a dialog's rows say, for the rules to judge."""
    return _state(row, execute(TURNS, [row.pk]))


def add_question(row: Dialog, number: int, question: str, message: UUID, now: datetime) -> None:
    """Store the question of the turn `number`; expects the dialog's row locked."""
    change(
        ASK,
        dialog=row.pk,
        number=number,
        question=question,
        message=stored_id(message),
        now=now,
    )
    go_on(row, now)


def add_answer(row: Dialog, number: int, answer: Reply, message: UUID, now: datetime) -> None:
    """Store the answer to the question of the turn `number`; expects the dialog's row locked."""
    change(
        ANSWER,
        dialog=row.pk,
        number=number,
        start=answer.start,
        end=answer.end,
        continuation=answer.continuation,
        affirmation=answer.affirmation,
        message=stored_id(message),
        now=now,
    )
    go_on(row, now)


def go_on(row: Dialog, now: datetime) -> None:
    """Note that a dialog has moved."""
    row.moved_at = now
    change(GO_ON, dialog=row.pk, now=now)


def _state(row: Dialog, said: Iterable[tuple[Any, ...]]) -> rules.Dialog:
    return rules.Dialog(
        turns=tuple(
            # An answer has its acts, a question that waits for one has none.
            rules.Turn(question, Reply(start, end, acts[0], acts[1]) if acts[0] else None)
            for question, start, end, *acts in said
        ),
        ending=Ending(row.ending) if row.ending else None,
        ended_by=Role(row.ended_by) if row.ended_by else None,
    )


def stored_id(message: UUID) -> UUID | str:
    """Return a message's id as this database keeps it."""
    return message if connection.features.has_native_uuid_field else message.hex


@lru_cache(maxsize=64)
def _limits(protocol: str, version: int, parameters: str, stage: str) -> rules.Limits:
    """Return a stage's limits, kept by what its collection's parameters say."""
    collection = Collection(
        protocol=protocol, protocol_version=version, parameters=json.loads(parameters)
    )
    return limits_of(table_as(parameters_of(collection).stages()[stage], DialogTable))
