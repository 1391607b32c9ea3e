"""What a person decides about pay: to reject, to pay now, to retry or let go what was refused."""

from collections.abc import Callable
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from common.actions import ActionError
from tasks.ledger import payments
from tasks.ledger.payments import Work
from tasks.models import (
    EmptySubmission,
    Payment,
    PaymentKind,
    PaymentState,
    Posting,
    ReceiptState,
    Rejection,
    Submission,
)
from tasks.paying import empty_submissions, reconcile, rejections
from tasks.paying.compensation import open_posting

Act = Callable[[Work, str, str, datetime], str]
TOLD = "The marketplace is told within a minute."


def propose(work: Work, words: str, by: str, now: datetime) -> str:
    """Propose to reject it."""
    row = rejections.propose(work.session, words, by, now)
    return (
        "Proposed. Somebody else can confirm it now, you yourself a day later; if nobody has "
        f"by {row.holds_until:%-d %B, %H:%M} UTC, the work is paid."
    )


def confirm(work: Work, words: str, by: str, now: datetime) -> str:
    """Agree to the proposal."""
    rejections.confirm(_newest(work), words, by, now)
    return f"Confirmed. {TOLD} It can still be taken back."


def withdraw(work: Work, words: str, by: str, now: datetime) -> str:
    """Take the proposal back."""
    rejections.withdraw(_newest(work), words, by, now)
    return "Withdrawn: nobody is rejected."


def take_back(work: Work, words: str, by: str, now: datetime) -> str:
    """Take the rejection back."""
    rejections.take_back(_newest(work), words, by, now)
    return f"Taken back: the reward is owed again. {TOLD}"


def pay(work: Work, words: str, by: str, now: datetime) -> str:
    """Pay what waits, without the hours that are left to reject it; return a sentence for people.

    Raises ActionError where it is decided already, or the marketplace has not confirmed it.
    """
    if isinstance(work, EmptySubmission):
        is_paid = empty_submissions.pay(work, by, now)
    else:
        is_paid = payments.change_state(work, [ReceiptState.CONFIRMED], ReceiptState.APPROVING)
    if not is_paid:
        raise ActionError("It is decided already: this page shows how.")
    return f"It is paid. {TOLD}"


def try_again(work: Work, words: str, by: str, now: datetime) -> str:
    """Ask the marketplace once more to pay what it refused; return a sentence for people.

    Raises ActionError where it is paid by a HIT of its own, or refused no longer.
    """
    with transaction.atomic():
        if paid_apart(work, lock=True):
            raise ActionError(
                "It is paid by a HIT of their own: asked again, it would be paid twice."
            )
        if not work.payments.filter(state=PaymentState.DUE).exists():
            raise ActionError("Its worker was forgotten and has waived it: nothing is owed.")
        asked = payments.change_state(work, [ReceiptState.REFUSED], ReceiptState.APPROVING)
    if not asked:
        raise ActionError("The marketplace refuses it no longer: this page shows how it stands.")
    return "The marketplace is asked again within a minute."


def pay_apart(work: Work, words: str, by: str, now: datetime) -> str:
    """Pay what the marketplace refused by a HIT that only this worker can take.

    Returns a sentence for people; raises ActionError where nothing is left to pay so.
    """
    with transaction.atomic():
        opened = (
            isinstance(work, Submission)
            and not paid_apart(work, lock=True)
            and payments.change_state(work, [ReceiptState.REFUSED], ReceiptState.REFUSED)
            and reconcile.reroute(work, now)
        )
    if not opened:
        raise ActionError("There is nothing left to pay apart: this page shows how it stands.")
    return "A HIT that only this worker can take opens within a minute."


def ask_again(rows: "QuerySet[Payment]") -> int:
    """Let the marketplace be asked once more for refused bonuses; returns how many."""
    refused = rows.filter(state=PaymentState.REFUSED, kind=PaymentKind.BONUS)
    return payments.advance(refused, PaymentState.DUE, refusal="")


def pay_bonus_apart(payment: Payment, now: datetime) -> bool:
    """Give a refused bonus a HIT that only its worker can take; False if it is refused no more.

    False too for a worker who was forgotten. Locks the payment; a job publishes the HIT.
    """
    with transaction.atomic():
        rows = Payment.objects.select_for_update(of=("self",))
        refused = rows.filter(state=PaymentState.REFUSED, worker__identity__isnull=False)
        held = refused.filter(pk=payment.pk).first()
        if held is None or held.lease is None:
            return False
        posting = open_posting(held.lease, held.amount_cents, f"bonuses:{held.key}", now)
        payments.advance(Payment.objects.filter(pk=held.pk), PaymentState.DUE, posting=posting)
    return True


def drop_bonus(payment: Payment) -> bool:
    """Let go of a bonus that a person gave and the marketplace refuses; the budget has it back.

    Returns False, and nothing is done, for any other: what a rule promised stays owed to everyone
    who can be reached.
    """
    refused = Payment.objects.filter(
        pk=payment.pk, kind=PaymentKind.BONUS, state=PaymentState.REFUSED
    )
    return bool(payments.let_go(refused.exclude(by="", worker__identity__isnull=False)))


def paid_apart(work: Work, *, lock: bool = False) -> bool:
    """Return whether a HIT of the worker's own pays it.

    `lock` holds its payments until the transaction ends, so that it is asked for in one way alone.
    """
    rows = work.payments.select_for_update() if lock else work.payments.all()
    postings = [row.posting_id for row in rows if row.posting_id]
    return Posting.objects.filter(pk__in=postings, worker__isnull=False).exists()


def _newest(work: Work) -> Rejection:
    row: Rejection | None = work.session.rejections.first()
    if row is None:
        raise ActionError("Nobody has proposed to reject it.")
    return row


ACTS: dict[str, Act] = {
    "propose": propose,
    "confirm": confirm,
    "withdraw": withdraw,
    "take_back": take_back,
    "pay": pay,
    "try_again": try_again,
    "pay_apart": pay_apart,
}
