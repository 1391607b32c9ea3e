"""Bonuses for many workers at once: looked at first, then sent, each of them once."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.core import signing
from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce

from marketplace.desk.batches.calls import carry_out
from marketplace.models import (
    HANDED_IN,
    Assignment,
    IdempotencyToken,
    Requester,
)
from marketplace.money.amounts import amount_of
from marketplace.money.funds import bonus_cents
from marketplace.operations.bonuses import WORKED_WITHIN
from marketplace.router import DATABASE
from marketplace.wire.registry import Call

# Tokens keep a bonus from being sent again for a day, so an order does not live that long.
GOOD_FOR = timedelta(hours=12)
# One transaction, and a second or two.
MOST_AT_ONCE = 300
SALT = "marketplace.bonuses"


class BonusOrderError(ValueError):
    """The bonuses cannot be sent like this; the message says what to do."""


@dataclass(frozen=True)
class BonusOrder:
    """Bonuses as their sender saw them: the same amount and reason for each of `work`."""

    requester: int
    # Keys of assignments.
    work: tuple[int, ...]
    cents: int
    reason: str
    made_at: float
    once: str

    @property
    def total_cents(self) -> int:
        """Return what they come to."""
        return self.cents * len(self.work)

    def signed(self) -> str:
        """Return it as text that a page carries and nobody can change."""
        return signing.dumps(vars(self), salt=SALT, compress=True)


def order_signed(text: str, requester: Requester, now: datetime) -> BonusOrder:
    """Return the order that a page carried; BonusOrderError if not theirs, or too old."""
    try:
        values = signing.loads(text, salt=SALT)
    except signing.BadSignature:
        raise BonusOrderError("This page was changed on its way. Choose the work again.") from None
    order = BonusOrder(**values | {"work": tuple(values["work"])})
    is_old = now.timestamp() - order.made_at > GOOD_FOR.total_seconds()
    if order.requester != requester.pk or is_old:
        raise BonusOrderError("This page is too old to send from. Choose the work again.")
    return order


def rewardable(work: QuerySet[Assignment], now: datetime) -> QuerySet[Assignment]:
    """Return, of these, what a bonus can be sent for, each with `bonus_cents` sent before.

    That is what was handed in, be it too late, within six months, by whom it can reach: nobody is
    sent a bonus who has erased their account.
    """
    is_in = Q(state__in=HANDED_IN) | ~Q(late_answer="")
    rows = work.filter(is_in, worker__erased_at=None).annotate(
        worked_at=Coalesce("submitted_at", "ended_at"),
        account=Coalesce("worker__merged_into", "worker"),
        bonus_cents=bonus_cents(),
    )
    return rows.filter(worked_at__gte=now - WORKED_WITHIN)


def make_order(
    requester: Requester,
    work: Iterable[Assignment],
    cents: int,
    reason: str,
    now: datetime,
    *,
    is_per_worker: bool,
) -> BonusOrder:
    """Return an order for this work, for each worker only the last of it if so wished.

    Expects rows of `rewardable`.
    """
    rows = sorted(work, key=lambda row: (row.worked_at, row.pk))  # type: ignore[attr-defined]
    if is_per_worker:
        rows = list({row.account: row for row in rows}.values())  # type: ignore[attr-defined]
    keys = tuple(row.pk for row in rows)
    return BonusOrder(requester.pk, keys, cents, reason, now.timestamp(), secrets.token_hex(8))


def send_some(order: BonusOrder, call: Call) -> tuple[int, int]:
    """Send the next of an order's bonuses; returns how many were sent now and how many are left.

    Asked again it goes on, and sends none twice. What is sent at once is sent wholly or not at
    all; raises WireError when the balance is short or one is refused.
    """
    mine = IdempotencyToken.objects.filter(requester=call.requester, operation="SendBonus")
    with transaction.atomic(using=DATABASE):
        # Whoever presses twice waits here, and then finds what was sent.
        Requester.objects.select_for_update(no_key=True).get(pk=call.requester.pk)
        sent = set(mine.filter(token__startswith=f"{order.once}-").values_list("token", flat=True))
        tokens = {f"{order.once}-{key}": key for key in order.work}
        left = [token for token in tokens if token not in sent]
        keys = [tokens[token] for token in left[:MOST_AT_ONCE]]
        rows = Assignment.objects.select_related("worker").in_bulk(keys)
        for token in left[:MOST_AT_ONCE]:
            row = rows[tokens[token]]
            values = {
                "WorkerId": row.worker.worker_id,
                "AssignmentId": row.assignment_id,
                "BonusAmount": amount_of(order.cents),
                "Reason": order.reason,
                "UniqueRequestToken": token,
            }
            carry_out(call, "SendBonus", values)
    return len(keys), len(left) - len(keys)
