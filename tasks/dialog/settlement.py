"""What becomes of a dialog that is over: its turns are kept, everybody is paid and goes on.

What a wait and a dialog can earn is held before, and owed when they are over.
"""

from datetime import datetime, timedelta
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from django.db import transaction
from django.db.models import F

from collector.models import Stage
from collector.protocols.creation import parameters_of
from collector.protocols.parameters import Parameters
from collector.protocols.stage_tables import DialogTable
from tasks.dialog.dialog_state import dialog_table, state_of
from tasks.dialog.presence import stop_clock
from tasks.ledger import budget
from tasks.models import (
    Answer,
    Dialog,
    DialogState,
    Lease,
    Payment,
    PaymentKind,
    Question,
    Ticket,
    TicketState,
    Topic,
    Turn,
)
from tasks.work import dialog_rules as rules
from tasks.work.dialog_rules import Ending, Role, limits_of
from tasks.work.passages import section_of

DONE = {"data": {"dialog": True}}


def longest_wait_cents(table: DialogTable, parameters: Parameters) -> int:
    """Return what one ticket's waits can cost at most, with the fee."""
    return _cost(table.wait_minutes * table.wait_cents_per_minute, parameters)


def longest_dialog_cents(table: DialogTable, parameters: Parameters) -> int:
    """Return what the turns of both partners of one dialog can cost at most, with the fees."""
    return 2 * _cost(rules.most_cents(limits_of(table)), parameters)


def usual_turns_cents(table: DialogTable) -> int:
    """Return what each partner earns half-way between the shortest dialog kept and the longest."""
    limits = limits_of(table)
    return rules.earned_cents((limits.min_pairs + limits.max_questions) // 2, limits)


def usual_dialog_cents(table: DialogTable, parameters: Parameters) -> int:
    """Return what the turns of both partners of a dialog of usual length cost, with the fees."""
    return 2 * _cost(usual_turns_cents(table), parameters)


def owe_wait(
    ticket: Ticket, held_cents: int, table: DialogTable, parameters: Parameters, now: datetime
) -> None:
    """Owe what the ticket's waits earned, up to the limit; expects the ticket's row locked.

    held_cents: what was reserved for them. The collection's row is changed last.
    """
    seconds = min(ticket.waited_seconds, 60 * table.wait_minutes)
    cents = seconds * table.wait_cents_per_minute // 60
    minutes = f"{seconds // 60} min {seconds % 60} s"
    _owe(ticket, f"wait:{ticket.pk}", cents, f"Waiting for a partner: {minutes}.", parameters, now)
    _settle(ticket.stage, held_cents, _cost(cents, parameters))


def owe_turns(
    row: Dialog,
    tickets: list[Ticket],
    completed: int,
    table: DialogTable,
    parameters: Parameters,
    now: datetime,
) -> None:
    """Owe each partner what their completed turns earned, whatever became of the dialog.

    Expects the dialog's row locked; the collection's is changed last.
    """
    cents = rules.earned_cents(completed, limits_of(table))
    for ticket in tickets:
        # The marketplace lists a bonus by amount and reason alone: no two may be alike.
        reason = f"{completed} answered questions of dialog {row.pk}."
        _owe(ticket, f"turns:{row.pk}:{ticket.pk}", cents, reason, parameters, now)
    _settle(row.stage, row.reserved_cents, len(tickets) * _cost(cents, parameters))


def _owe(
    ticket: Ticket, key: str, cents: int, reason: str, parameters: Parameters, now: datetime
) -> None:
    if not cents:
        return
    Payment.objects.create(
        collection_id=ticket.stage.collection_id,
        stage_id=ticket.stage_id,
        worker_id=ticket.worker_id,
        lease_id=ticket.lease_id,
        posting_id=ticket.lease.session.posting_id,
        kind=PaymentKind.BONUS,
        amount_cents=cents,
        fee_cents=budget.fee_cents(cents, parameters.pay),
        key=key,
        reason=reason,
        created_at=now,
    )


def _cost(cents: int, parameters: Parameters) -> int:
    return cents + budget.fee_cents(cents, parameters.pay) if cents else 0


def _settle(stage: Stage, reserved_cents: int, cost_cents: int) -> None:
    budget.earn(stage.collection_id, reserved_cents=reserved_cents, cost_cents=cost_cents)


def settle(dialog: Dialog, now: datetime) -> bool:
    """Keep the turns of a dialog that is over, owe their pay, and let the partners go on.

    Returns False, and nothing is done, where it goes on or was settled before. Rows are locked
    in this order everywhere: dialog, tickets by their number, topic, collection.
    """
    with transaction.atomic():
        row = (
            Dialog.objects.select_for_update(of=("self",), no_key=True)
            .select_related("stage__collection", "topic__seed")
            .get(pk=dialog.pk)
        )
        if row.state != DialogState.OVER or row.settled:
            return False
        parameters = parameters_of(row.stage.collection)
        table = dialog_table(row.stage)
        tickets = _tickets(row)
        state = state_of(row)
        _keep(row, state, synthetic=any(ticket.worker.synthetic for ticket in tickets.values()))
        if state.completed:
            _mark_done([ticket.lease_id for ticket in tickets.values()])
        if state.completed < limits_of(table).min_pairs:
            Topic.objects.filter(pk=row.topic_id).update(taken=F("taken") - 1)
        Dialog.objects.filter(pk=row.pk).update(settled=True, reserved_cents=0)
        owe_turns(row, list(tickets.values()), state.completed, table, parameters, now)
        for role, ticket in tickets.items():
            if _goes_on(row, role, ticket, table):
                # Who was only asked whether they are there has waited all the time.
                was_asked = ticket.state == TicketState.CHECKING
                ticket.waiting_since = row.began_at if was_asked else row.ended_at or now
                ticket.state, ticket.ready = TicketState.WAITING, False
                ticket.save(update_fields=["state", "waiting_since", "ready"])
            else:
                _finish(ticket, now)
    return True


def settle_all(stage: Stage, now: datetime) -> list[Dialog]:
    """Settle whatever is over, also what a crash cut off; returns the dialogs."""
    over = Dialog.objects.filter(stage=stage, settled=False, state=DialogState.OVER)
    return [dialog for dialog in over if settle(dialog, now)]


def finish(ticket: Ticket, now: datetime) -> bool:
    """End a ticket that waits and owe its wait; returns False when it does not wait."""
    with transaction.atomic():
        row = _locked([ticket.pk])[0]
        if row.state != TicketState.WAITING:
            return False
        table = dialog_table(row.stage)
        stop_clock(row, now)
        if row.waited_seconds >= 60 * table.wait_minutes:
            _mark_done([row.lease_id])
        _finish(row, now)
    return True


def _tickets(row: Dialog) -> dict[Role, Ticket]:
    """Return the partners' tickets, locked."""
    found = {
        ticket.pk: ticket for ticket in _locked([row.student_ticket_id, row.teacher_ticket_id])
    }
    return {
        Role.STUDENT: found[row.student_ticket_id],
        Role.TEACHER: found[row.teacher_ticket_id],
    }


def _locked(tickets: list[int]) -> list[Ticket]:
    return list(
        Ticket.objects.select_for_update(of=("self",), no_key=True)
        .select_related("worker", "stage__collection", "lease__session")
        .filter(pk__in=tickets)
        .order_by("id")
    )


def _mark_done(leases: list[int]) -> None:
    """Save the work as handed-in work would be: when the time runs out first, it is paid."""
    Lease.objects.filter(pk__in=sorted(leases), draft__isnull=True).update(draft=DONE)


def _keep(row: Dialog, state: rules.Dialog, *, synthetic: bool) -> None:
    """Write a question and its teacher's answer for every completed turn."""
    seed = row.topic.seed
    section = section_of(seed.pk)
    turns = list(row.turns.filter(answered_at__isnull=False))
    shared: dict[str, Any] = {"stage": row.stage, "synthetic": synthetic}
    questions = Question.objects.bulk_create(
        Question(
            position=turn.number,
            seed=seed,
            worker_id=row.student_id,
            key=_key(row, turn, seed.key),
            text=turn.question,
            payload={"dialog": row.ordinal, "turn": turn.number, "n_pairs": state.completed},
            created_at=turn.asked_at,
            **shared,
        )
        for turn in turns
    )
    Answer.objects.bulk_create(
        Answer(
            question=question,
            worker_id=row.teacher_id,
            writer_id=row.student_id,
            type="none" if turn.start is None else "span",
            payload={
                "spans": _spans(turn, section.text),
                "continuation": turn.continuation,
                "affirmation": turn.affirmation,
                "n_pairs": state.completed,
            },
            created_at=turn.answered_at or row.moved_at,
            **shared,
        )
        for question, turn in zip(questions, turns, strict=True)
    )


def _key(row: Dialog, turn: Turn, seed: str) -> str:
    content = f"{row.stage.name}\n{seed}\n{row.ordinal}\n{turn.number}\n{turn.question}"
    return uuid5(NAMESPACE_URL, content).hex


def _spans(turn: Turn, text: str) -> list[dict[str, object]]:
    if turn.start is None or turn.end is None:
        return []
    picked = text[turn.start : turn.end]
    return [{"document": "section", "start": turn.start, "end": turn.end, "text": picked}]


def _goes_on(row: Dialog, role: Role, ticket: Ticket, table: DialogTable) -> bool:
    """Return whether the role's holder is offered a new partner; everybody else is done.

    Who was left or has reported their partner is, unless they too have not answered the
    check whether they are there.
    """
    if row.ending == Ending.REPORTED:
        return row.ended_by == role
    if row.ending != Ending.LEFT or row.ended_by == role:
        return False
    asked = ticket.state == TicketState.CHECKING and not ticket.ready
    allowed = timedelta(seconds=table.ready_seconds)
    return not asked or (row.ended_at or row.moved_at) - row.began_at <= allowed


def _finish(ticket: Ticket, now: datetime) -> None:
    """Owe the waits of a locked ticket that is not to wait again."""
    parameters = parameters_of(ticket.stage.collection)
    held, ticket.reserved_cents = ticket.reserved_cents, 0
    ticket.state = TicketState.DONE
    ticket.save(update_fields=["state", "reserved_cents", "waited_seconds"])
    owe_wait(ticket, held, dialog_table(ticket.stage), parameters, now)
