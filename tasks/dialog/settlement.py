"""What becomes of a dialog that is over: its turns are kept, everybody is paid and goes on."""

from datetime import datetime
from uuid import NAMESPACE_URL, uuid5

from django.db import transaction
from django.db.models import F

from collector.creation import parameters_of
from collector.models import Stage
from collector.parameters import Parameters
from tasks import budget
from tasks.dialog import rules
from tasks.dialog.limits import limits_of
from tasks.dialog.rules import Ending, Role
from tasks.dialog.sections import section_of
from tasks.dialog.turns import state_of
from tasks.models import (
    Answer,
    Dialog,
    DialogState,
    Payment,
    PaymentKind,
    Question,
    Ticket,
    TicketState,
    Topic,
    Turn,
)


def settle(dialog: Dialog, now: datetime) -> bool:
    """Keep the turns of a dialog that is over, owe their pay, and let the partners go on.

    Returns False, and nothing is done, where it goes on or was settled before.
    """
    with transaction.atomic():
        row = (
            Dialog.objects.select_for_update(of=("self",), no_key=True)
            .select_related("stage__collection", "topic__seed", "student_ticket", "teacher_ticket")
            .get(pk=dialog.pk)
        )
        if row.state != DialogState.OVER or row.settled:
            return False
        parameters = parameters_of(row.stage.collection)
        limits = limits_of(parameters.stages()[row.stage.name])
        state = state_of(row)
        _keep(row, state)
        if state.completed < limits.min_pairs:
            Topic.objects.filter(pk=row.topic_id).update(taken=F("taken") - 1)
        for role, ticket in (
            (Role.STUDENT, row.student_ticket),
            (Role.TEACHER, row.teacher_ticket),
        ):
            _go_on(row, role, ticket, parameters, now)
        _pay_turns(row, rules.earned_cents(state.completed, limits), parameters, now)
        Dialog.objects.filter(pk=row.pk).update(settled=True, reserved_cents=0)
    return True


def settle_all(stage: Stage, now: datetime) -> int:
    """Settle whatever is over, also what a crash cut off; returns how many dialogs."""
    over = Dialog.objects.filter(stage=stage, state=DialogState.OVER, settled=False)
    return sum(settle(dialog, now) for dialog in over)


def finish(ticket: Ticket, now: datetime) -> bool:
    """End a ticket that waits and owe its wait; returns False when it does not wait."""
    with transaction.atomic():
        row = Ticket.objects.select_for_update(no_key=True).get(pk=ticket.pk)
        if row.state != TicketState.WAITING:
            return False
        row.waited_seconds += max(0, int((now - row.waiting_since).total_seconds()))
        _finish(row, parameters_of(row.stage.collection), now)
    return True


def _keep(row: Dialog, state: rules.Dialog) -> None:
    """Write a question and its teacher's answer for every completed turn."""
    seed = row.topic.seed
    section = section_of(seed.pk)
    synthetic = row.student_ticket.worker.synthetic or row.teacher_ticket.worker.synthetic
    for turn in row.turns.filter(answered_at__isnull=False):
        name = f"{row.stage.name}\n{seed.key}\n{row.ordinal}\n{turn.number}\n{turn.question}"
        question = Question.objects.create(
            stage=row.stage,
            position=turn.number,
            seed=seed,
            worker_id=row.student_id,
            key=uuid5(NAMESPACE_URL, name).hex,
            text=turn.question,
            payload={"dialog": row.ordinal, "turn": turn.number, "n_pairs": state.completed},
            synthetic=synthetic,
            created_at=turn.asked_at,
        )
        Answer.objects.create(
            question=question,
            stage=row.stage,
            worker_id=row.teacher_id,
            writer_id=row.student_id,
            type="none" if turn.start is None else "span",
            payload={
                "spans": _spans(turn, section.text),
                "continuation": turn.continuation,
                "affirmation": turn.affirmation,
                "n_pairs": state.completed,
            },
            synthetic=synthetic,
            created_at=turn.answered_at or row.moved_at,
        )


def _spans(turn: Turn, text: str) -> list[dict[str, object]]:
    if turn.start is None or turn.end is None:
        return []
    picked = text[turn.start : turn.end]
    return [{"document": "section", "start": turn.start, "end": turn.end, "text": picked}]


def _go_on(row: Dialog, role: Role, ticket: Ticket, parameters: Parameters, now: datetime) -> None:
    """Offer a new partner to whom the other has left; everybody else is done."""
    left_alone = row.ending in (Ending.LEFT, Ending.REPORTED) and (row.ended_by == role) == (
        row.ending == Ending.REPORTED
    )
    if left_alone:
        Ticket.objects.filter(pk=ticket.pk).update(
            state=TicketState.WAITING, waiting_since=now, ready=False
        )
    else:
        _finish(ticket, parameters, now)


def _finish(ticket: Ticket, parameters: Parameters, now: datetime) -> None:
    table = parameters.stages()[ticket.stage.name]
    longest = 60 * table.wait_minutes  # type: ignore[attr-defined]
    rate = table.wait_cents_per_minute  # type: ignore[attr-defined]
    cents = min(ticket.waited_seconds, longest) * rate // 60
    _owe(ticket, f"wait:{ticket.pk}", cents, "Waiting for a partner.", parameters, now)
    cost = cents + (budget.fee_cents(cents, parameters.pay) if cents else 0)
    budget.earn(ticket.stage.collection_id, reserved_cents=ticket.reserved_cents, cost_cents=cost)
    Ticket.objects.filter(pk=ticket.pk).update(
        state=TicketState.DONE, waited_seconds=ticket.waited_seconds, reserved_cents=0
    )


def _pay_turns(row: Dialog, cents: int, parameters: Parameters, now: datetime) -> None:
    """Owe both partners what their completed turns earned, whatever became of the dialog."""
    for ticket in (row.student_ticket, row.teacher_ticket):
        reason = "Answered questions of a dialog."
        _owe(ticket, f"turns:{row.pk}:{ticket.pk}", cents, reason, parameters, now)
    cost = 2 * (cents + (budget.fee_cents(cents, parameters.pay) if cents else 0))
    budget.earn(row.stage.collection_id, reserved_cents=row.reserved_cents, cost_cents=cost)


def _owe(
    ticket: Ticket, key: str, cents: int, reason: str, parameters: Parameters, now: datetime
) -> None:
    if not cents:
        return
    Payment.objects.create(
        collection_id=ticket.stage.collection_id,
        stage=ticket.stage,
        worker_id=ticket.worker_id,
        posting=ticket.lease.session.posting,
        kind=PaymentKind.BONUS,
        amount_cents=cents,
        fee_cents=budget.fee_cents(cents, parameters.pay),
        key=key,
        reason=reason,
        created_at=now,
    )
