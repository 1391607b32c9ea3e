"""What a wait and a dialog earn: held before anybody can earn it, owed when they are over."""

from datetime import datetime

from collector.models import Stage
from collector.protocols.parameters import Parameters
from collector.protocols.stage_tables import DialogTable
from tasks.ledger import budget
from tasks.models import Dialog, Payment, PaymentKind, Ticket
from tasks.work import dialog_rules as rules
from tasks.work.dialog_rules import limits_of


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
