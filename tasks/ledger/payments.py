"""The ledger: what is owed is written first, the marketplace is told second, and reconciled.

A payment goes from state to state by `advance` alone:

| state     | meaning                                                        | leads to            |
| --------- | -------------------------------------------------------------- | ------------------- |
| due       | owed; each round of the jobs tries to pay it                   | confirmed, refused, |
|           |                                                                | withheld            |
| refused   | a bonus that the provider will not carry; a person decides     | due, withheld       |
| withheld  | not owed: rejected or let go; the budget has the money back    | due                 |
| confirmed | the provider has paid it                                       | nothing             |

A payment that failed stays due, and the next round of the jobs retries it: a reward in
`paying.reconcile`, a bonus in `paying.bonuses`, a HIT of the worker's own in `paying.compensation`.
What the provider refuses for good is retried by a person alone, in `paying.decisions`.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet, Sum

from collector.protocols.creation import parameters_of
from collector.protocols.parameters import Parameters
from common.actions import ActionError
from common.prepared_sql import change, insert, inserting
from tasks.ledger import budget
from tasks.ledger.performance_bonuses import enter_bonus
from tasks.models import (
    EmptySubmission,
    Lease,
    Payment,
    PaymentKind,
    PaymentState,
    Posting,
    PostingState,
    ReceiptState,
    Submission,
)

# What was handed in with one assignment: work that we hold, or none.
Work = Submission | EmptySubmission
COST = Sum(F("amount_cents") + F("fee_cents"), default=0)
MOST_WORDS = 500
STEPS = {
    PaymentState.DUE: (PaymentState.CONFIRMED, PaymentState.REFUSED, PaymentState.WITHHELD),
    PaymentState.REFUSED: (PaymentState.DUE, PaymentState.WITHHELD),
    PaymentState.WITHHELD: (PaymentState.DUE,),
    PaymentState.CONFIRMED: (),
}
TAKE_IN = """
UPDATE tasks_posting
SET reserved_cents = 0, state = CASE state WHEN 'live' THEN 'submitted' ELSE state END
WHERE id = %(posting)s AND state = %(state)s AND reserved_cents = %(reserved)s
"""


def advance(payments: "QuerySet[Payment]", to: PaymentState, **fields: Any) -> int:
    """Bring those of the payments to a state that can get there, and return how many that were.

    fields: what else is written of them. The budget is the caller's.
    """
    before = [state for state, following in STEPS.items() if to in following]
    return payments.filter(state__in=before).update(state=to, **fields)


def owe_reward(
    submission: Submission,
    posting: Posting,
    parameters: Parameters,
    now: datetime,
    *,
    again: bool = False,
) -> None:
    """Write that the posting's reward is due; turns its reservation into money spent.

    Expects the transaction of the submission. What was held for the lease itself, as where somebody
    else has the HIT by now, is spent in place of the HIT's own. Where nothing is held any more it
    is paid all the same, from the budget's remainder or by raising the budget. again: it could not
    be stored a moment ago, and what stands in its way is looked for.
    """
    lease = submission.lease
    if not lease.reserved_cents:
        _take_in(posting)
    payment = _reward(posting, lease.worker_id, parameters, now)
    # A posting that was open until now has paid nobody yet.
    if again or lease.reserved_cents or posting.state != PostingState.LIVE:
        known = Payment.objects.filter(key=payment.key).first()
        if known and known.submission_id:
            # The worker took this HIT twice and did two units: each is paid.
            payment.key, known = f"{payment.key}:{lease.pk}", None
        if known and known.state == PaymentState.CONFIRMED:
            # Its HIT was paid without it and is gone: no receipt will come.
            change_state(submission, [ReceiptState.HELD], ReceiptState.APPROVED, confirmed_at=now)
        if known:
            budget.release(payment.collection_id, lease.reserved_cents)
            return
    payment.submission = submission
    held = lease.reserved_cents or posting.reserved_cents
    _spend(payment, held, now)


def settle_with_other(submission: Submission, now: datetime) -> None:
    """Write that work is paid by what its worker handed in of the same unit with another lease.

    Expects the transaction of the submission. No receipt comes for it: the other's is sent.
    """
    lease, submission.state = submission.lease, ReceiptState.APPROVED
    change_state(submission, [ReceiptState.HELD], ReceiptState.APPROVED, confirmed_at=now)
    budget.release(lease.unit.stage.collection_id, lease.reserved_cents)


def owe_empty_submission(work: EmptySubmission, by: str, now: datetime) -> None:
    """Write that an assignment handed in without work is paid, and who says so.

    Expects the transaction in which it leaves the state that waits for a decision.
    """
    posting = work.session.posting
    _take_in(posting)
    parameters = parameters_of(posting.stage.collection)
    payment = _reward(posting, work.session.worker_id, parameters, now)
    if Payment.objects.filter(key=payment.key).exists():
        # Its work came after all, and owes the reward.
        return
    payment.reason = f"Submitted empty; approved by {by}."
    _spend(payment, posting.reserved_cents, now)


def _reward(posting: Posting, worker_id: str, parameters: Parameters, now: datetime) -> Payment:
    return Payment(
        key=f"reward:{posting.token}:{worker_id}",
        collection_id=posting.stage.collection_id,
        stage_id=posting.stage_id,
        worker_id=worker_id,
        posting=posting,
        kind=PaymentKind.REWARD,
        amount_cents=posting.reward_cents,
        fee_cents=budget.fee_cents(posting.reward_cents, parameters.pay),
        created_at=now,
    )


def _take_in(posting: Posting) -> None:
    """Mark a posting as handed in and empty it; `posting` tells what it was until then.

    What was read of it before may have changed since: then it is read and tried again.
    """
    while not change(
        TAKE_IN,
        posting=posting.pk,
        state=str(posting.state),
        reserved=posting.reserved_cents,
    ):
        posting.refresh_from_db(fields=["state", "reserved_cents"])


def _spend(payment: Payment, held_cents: int, now: datetime) -> None:
    """Write a payment and turn what is held into money spent; what is missing is held anyway."""
    cost = payment.amount_cents + payment.fee_cents
    before = [inserting(payment)]
    if cost > held_cents:
        # A payment that is written twice waits for the first before it locks the collection.
        insert(payment)
        before = []
        budget.hold_anyway(payment.collection_id, cost - held_cents, "late work", now)
    held = max(held_cents, cost)
    budget.earn(payment.collection_id, reserved_cents=held, cost_cents=cost, before=before)


def withhold(work: Work, now: datetime) -> None:
    """Give the budget back what rejected work would have cost; expects a transaction."""
    posting = work.session.posting
    _take_in(posting)
    collection_id = posting.stage.collection_id
    if isinstance(work, EmptySubmission) and not work.payments.exists():
        parameters = parameters_of(posting.stage.collection)
        payment = _reward(posting, work.session.worker_id, parameters, now)
        payment.state = PaymentState.WITHHELD
        insert(payment)
        budget.release(collection_id, posting.reserved_cents)
        return
    due = work.payments.filter(state=PaymentState.DUE)
    cents = due.aggregate(cents=COST)["cents"]
    advance(due, PaymentState.WITHHELD)
    budget.give_back(collection_id, cents)


def let_go(owed: "QuerySet[Payment]") -> int:
    """Owe these payments no more, and give the budget back what they cost; returns how many.

    Locks them.
    """
    with transaction.atomic():
        rows = list(owed.select_for_update(of=("self",)))
        for row in rows:
            # What a person gave was added to what the collection costs.
            give_back = budget.give_back_beside if row.by else budget.give_back
            give_back(row.collection_id, row.amount_cents + row.fee_cents)
        advance(Payment.objects.filter(pk__in=[row.pk for row in rows]), PaymentState.WITHHELD)
    return len(rows)


def owe_again(work: Work, by: str, now: datetime, *, within_budget: bool) -> bool:
    """Owe what was withheld; returns False when the budget cannot hold it: then roll back.

    Expects a transaction. by: who took the rejection back; a maximum that it raises tells.
    """
    collection_id = work.session.posting.stage.collection_id
    withheld = work.payments.filter(state=PaymentState.WITHHELD)
    cents = withheld.aggregate(cents=COST)["cents"]
    advance(withheld, PaymentState.DUE)
    if not within_budget:
        budget.hold_anyway(collection_id, cents, by, now)
    elif not budget.hold_for_work_done(collection_id, cents, by, now):
        return False
    budget.earn(collection_id, reserved_cents=cents, cost_cents=cents)
    return True


def change_state(
    work: Work, states: Iterable[ReceiptState], to: ReceiptState, **fields: Any
) -> bool:
    """Bring work from one of `states` to another; False, and nothing done, if it is in none."""
    rows = type(work)._default_manager.filter(pk=work.pk, state__in=states)
    return bool(rows.update(state=to, **fields))


def mark_approved(work: Work, state: ReceiptState, now: datetime) -> None:
    """Write that the marketplace has approved work that was in `state`."""
    with transaction.atomic():
        if not change_state(work, [state], ReceiptState.APPROVED):
            return
        # Handing in locks the HIT's row too: from here on such work is in, or sees it paid.
        Posting.objects.filter(pk=work.session.posting_id).update(state=PostingState.SETTLED)
        # Work that came after its HIT had been decided waits for no receipt any more.
        Submission.objects.filter(lease__session=work.session, state=ReceiptState.HELD).update(
            state=ReceiptState.APPROVED, confirmed_at=now
        )
        advance(work.payments.all(), PaymentState.CONFIRMED, confirmed_at=now)


def give_bonus(
    lease: Lease, cents: int, reason: str, by: str, once: UUID, now: datetime
) -> Payment:
    """Return a bonus that a person gives for a stay, drawn from the budget; nothing else changes.

    It is sent when the marketplace lists the work, by a HIT of the worker's own where none comes
    (see reroute_unsendable). reason: the worker reads it. once: the same again gives the same
    bonus, not another. Raises ActionError, and nothing is done.
    """
    reason = reason.strip()
    if cents < 1:
        raise ActionError("Write an amount above zero, such as 0.50.")
    if not reason or len(reason) > MOST_WORDS:
        raise ActionError(f"Say what it is for, in at most {MOST_WORDS} characters: they read it.")
    if not hasattr(lease.worker, "identity"):
        raise ActionError(
            "This person asked to be forgotten: nothing can be sent to them any more."
        )
    key = f"given:{lease.pk}:{once}"
    try:
        stage = lease.unit.stage
        with transaction.atomic():
            found = Payment.objects.filter(key=key).first()
            if found:
                return found
            # The rows come before the budget's, as everywhere.
            payment = enter_bonus(lease, key, cents, reason, by, now)
            cost = cents + payment.fee_cents
            if not budget.reserve_beside(stage.collection_id, cost):
                raise ActionError(
                    "The budget cannot hold it: raise the budget, then give the bonus."
                )
            budget.earn(stage.collection_id, reserved_cents=cost, cost_cents=cost)
        return payment
    except IntegrityError:
        # Pressed twice, and the other request was quicker by a moment.
        return Payment.objects.get(key=key)
