"""Records payments that the host has made to workers, and what workers say is missing."""

from datetime import date, datetime

from django.db import transaction
from django.utils.translation import gettext as _

from marketplace.hits.lifecycle import settle_due
from marketplace.models import LedgerEntry, LedgerKind, PaymentReport, Payout, Worker
from marketplace.money import funds
from marketplace.money.amounts import price_of
from marketplace.notifications.decision_messages import tell_of_payment
from marketplace.router import DATABASE

LONGEST_REPORT = 2000


class PayoutError(ValueError):
    """The payment cannot be recorded; the message says why."""


def record_payout(
    worker_id: str, cents: int, paid_on: date, method: str, reference: str, now: datetime
) -> Payout:
    """Return the record of one payment; the same reference again is the same payment.

    What the clock has approved by now is owed too. Raises PayoutError for an unknown worker, a sum
    that is not owed, or a reference that was used for another payment.
    """
    settle_due(now, assignments__worker__worker_id=worker_id)
    with transaction.atomic(using=DATABASE):
        worker = Worker.objects.select_for_update().filter(worker_id=worker_id).first()
        if worker is None:
            raise PayoutError(f"There is no worker {worker_id!r}.")
        if worker.is_simulated:
            raise PayoutError(f"{worker_id} is simulated: no person is owed anything for its work.")
        found = Payout.objects.filter(reference=reference).first()
        if found is not None:
            if (found.worker_id, found.amount_cents) != (worker.pk, cents):
                raise PayoutError(f"The reference {reference} belongs to another payment.")
            return found
        owed = funds.owed_cents(worker)
        if not 0 < cents <= owed:
            raise PayoutError(
                f"{worker_id} is owed {price_of(owed)}; record more than nothing, and no more."
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
            key=f"{LedgerKind.PAYOUT}:{payout.pk}",
            kind=LedgerKind.PAYOUT,
            worker=worker,
            amount_cents=cents,
            at=now,
        )
        tell_of_payment(payout)
        return payout


def report_payment(worker: Worker, text: str, now: datetime) -> PaymentReport:
    """Return the worker's word that a payment is missing or wrong, for the host's desk.

    Raises PayoutError when it is empty or too long, or while an earlier one waits for an answer.
    """
    text = text.replace("\x00", "").strip()
    if not 1 <= len(text) <= LONGEST_REPORT:
        raise PayoutError(
            _("Say in 1 to %(most)s characters what is missing.") % {"most": LONGEST_REPORT}
        )
    with transaction.atomic(using=DATABASE):
        worker = Worker.objects.select_for_update().get(pk=worker.pk)
        if worker.payment_reports.filter(answered_at=None).exists():
            raise PayoutError(_("You have reported a payment already; the answer comes first."))
        owed = funds.owed_cents(worker)
        return PaymentReport.objects.create(
            worker=worker, text=text, owed_cents=owed, reported_at=now
        )


def answer_report(report: PaymentReport, answer: str, now: datetime) -> None:
    """Answer a report; the worker reads it beside their earnings. The first answer stays.

    Raises PayoutError when the answer is empty or the report was answered before.
    """
    answer = answer.strip()
    if not 1 <= len(answer) <= LONGEST_REPORT:
        raise PayoutError(f"Answer the worker in 1 to {LONGEST_REPORT} characters.")
    rows = PaymentReport.objects.filter(pk=report.pk, answered_at=None)
    if not rows.update(answer=answer, answered_at=now):
        raise PayoutError("This report was answered before.")
