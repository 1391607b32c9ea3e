"""Records payments that the host has made to workers outside the marketplace."""

from datetime import date, datetime

from django.db import transaction

from marketplace import funds
from marketplace.amounts import amount_of
from marketplace.models import Kind, LedgerEntry, Payout, Worker
from marketplace.router import DATABASE


class PayoutError(ValueError):
    """The payment cannot be recorded; the message says why."""


def record_payout(
    worker_id: str, cents: int, paid_on: date, method: str, reference: str, now: datetime
) -> Payout:
    """Return the record of one payment; the same reference again is the same payment.

    Raises PayoutError for an unknown worker, a sum that is not owed, or a reference that was used
    for another payment.
    """
    with transaction.atomic(using=DATABASE):
        worker = Worker.objects.select_for_update().filter(worker_id=worker_id).first()
        if worker is None:
            raise PayoutError(f"There is no worker {worker_id}.")
        found = Payout.objects.filter(reference=reference).first()
        if found is not None:
            if (found.worker_id, found.amount_cents) != (worker.pk, cents):
                raise PayoutError(f"The reference {reference} belongs to another payment.")
            return found
        owed = funds.owed_cents(worker)
        if not 0 < cents <= owed:
            raise PayoutError(
                f"{worker_id} is owed {amount_of(owed)}; record more than nothing, and no more."
            )
        payout = Payout.objects.create(
            worker=worker,
            amount_cents=cents,
            paid_on=paid_on,
            method=method,
            reference=reference,
            recorded_at=now,
        )
        LedgerEntry.objects.create(
            key=f"{Kind.PAYOUT}:{payout.pk}",
            kind=Kind.PAYOUT,
            worker=worker,
            amount_cents=cents,
            at=now,
        )
        return payout
