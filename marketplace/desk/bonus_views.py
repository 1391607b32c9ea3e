"""A requester's bonuses for many workers at once: chosen, looked at, sent, each of them once."""

import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.core import signing
from django.db import transaction
from django.db.models import QuerySet, Sum
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from marketplace import clock
from marketplace.amounts import amount_of, price_of, typed_cents
from marketplace.desk.batch_views import own_batch
from marketplace.desk.hit_views import NO_HIT
from marketplace.desk.publishing import call_of, carry_out
from marketplace.hits.lifecycle import settle_due
from marketplace.models import (
    HIT,
    Assignment,
    AssignmentState,
    IdempotencyToken,
    Requester,
)
from marketplace.operations.hits import MOST_CENTS
from marketplace.operations.money import rewardable
from marketplace.router import DATABASE
from marketplace.web.desk_pages import (
    DeskRequest,
    leave_notice,
    page_of,
    record,
    requester_page,
    show,
)
from marketplace.web.pages import first_or_error
from marketplace.wire.calls import Call
from marketplace.wire.errors import WireError

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
        # A second click waits here, and then finds what was sent.
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


LONGEST_REASON = 2000
MOST_CHOSEN = 10_000


@requester_page
def bonuses_of_batch(request: DeskRequest, key: int) -> HttpResponse:
    """Choose work of a batch for a bonus, see what it comes to, send it."""
    found = own_batch(request, key)
    settle_due(clock.now(), batch_row__batch=found)
    back = reverse("desk-batch", kwargs={"key": key})
    work = Assignment.objects.filter(hit__batch_row__batch=found)
    return _answer(request, work, found.name, back, "projects")


@requester_page
def bonuses_of_hit(request: DeskRequest, key: int) -> HttpResponse:
    """Choose work of one HIT for a bonus, see what it comes to, send it."""
    mine = HIT.objects.filter(requester=request.requester, pk=key)
    settle_due(clock.now(), pk=key, requester=request.requester)
    found = first_or_error(mine.select_related("hit_type"), NO_HIT)
    back = reverse("desk-hit", kwargs={"key": key})
    here = "projects" if hasattr(found, "batch_row") else "hits"
    work = Assignment.objects.filter(hit=found)
    return _answer(request, work, found.hit_type.title, back, here)


def _answer(
    request: DeskRequest, work: QuerySet[Assignment], name: str, back: str, here: str
) -> HttpResponse:
    """Return the page to choose on, the one to look at, or where the sender goes on."""
    rows = rewardable(work, clock.now())
    request.requester.refresh_from_db()

    def drawn(status: int = 200, **more: Any) -> HttpResponse:
        common = {"back": back, "name": name, "here": here, "requester": request.requester}
        return show(request, "bonuses.html", status, **common, **_choices(request, rows), **more)

    if request.method != "POST":
        return drawn()
    try:
        if "order" in request.POST:
            return _send(request, rows, name, drawn)
        order = _order(request, rows)
    except BonusOrderError as error:
        return drawn(400, problem=str(error))
    return drawn(**_facts(request, rows, order))


def _choices(request: DeskRequest, rows: QuerySet[Any]) -> dict[str, Any]:
    listed = rows.select_related("worker", "hit__hit_type").order_by("-worked_at", "-pk")
    asked = request.POST if request.method == "POST" else request.GET
    return {
        "page": page_of(request, listed),
        "n_all": rows.count(),
        "n_approved": rows.filter(state=AssignmentState.APPROVED).count(),
        "ticked": {int(key) for key in asked.getlist("work") if key.isdecimal()},
        "given": request.POST,
    }


def _order(request: DeskRequest, rows: QuerySet[Any]) -> BonusOrder:
    """Return the order that the form asks for; raises BonusOrderError with what to mend."""
    given = request.POST
    try:
        cents = typed_cents(given.get("amount", ""))
    except ValueError:
        raise BonusOrderError("Write the amount of one bonus, like 0.50.") from None
    if not 1 <= cents <= MOST_CENTS:
        raise BonusOrderError(f"One bonus can be {price_of(1)} to {price_of(MOST_CENTS)}.")
    reason = given.get("reason", "").replace("\x00", "").strip()
    if not 1 <= len(reason) <= LONGEST_REASON:
        raise BonusOrderError(f"Write the reason in 1 to {LONGEST_REASON} characters.")
    if given.get("who") == "approved":
        rows = rows.filter(state=AssignmentState.APPROVED)
    elif given.get("who") != "all":
        ticked = [int(key) for key in given.getlist("work") if key.isdecimal() and len(key) < 18]
        rows = rows.filter(pk__in=ticked[:1000])
    chosen = list(rows.select_related("worker").defer("answer", "late_answer")[: MOST_CHOSEN + 1])
    if not chosen:
        raise BonusOrderError("Choose at least one piece of work.")
    if len(chosen) > MOST_CHOSEN:
        raise BonusOrderError(f"Choose {MOST_CHOSEN} at most.")
    is_per_worker = given.get("per") == "worker"
    now = clock.now()
    return make_order(request.requester, chosen, cents, reason, now, is_per_worker=is_per_worker)


def _facts(request: DeskRequest, rows: QuerySet[Any], order: BonusOrder) -> dict[str, Any]:
    chosen = rows.filter(pk__in=order.work)
    before = chosen.filter(bonus_cents__gt=0)
    return {
        "order": order,
        "signed": order.signed(),
        "sample": chosen.select_related("worker").order_by("-worked_at", "-pk")[:20],
        "n_before": before.count(),
        "before_cents": before.aggregate(total=Sum("bonus_cents"))["total"] or 0,
        "left_cents": request.requester.balance_cents - order.total_cents,
    }


def _send(
    request: DeskRequest,
    rows: QuerySet[Any],
    name: str,
    drawn: Callable[..., HttpResponse],
) -> HttpResponse:
    now = clock.now()
    order = order_signed(request.POST["order"], request.requester, now)
    try:
        n_sent, n_left = send_some(order, call_of(request, request.requester))
    except WireError as error:
        return drawn(400, problem=error.message, **_facts(request, rows, order))
    if n_sent:
        each = price_of(order.cents)
        record(request, f"Sent {n_sent} bonuses of {each} for {name}")
    if n_left:
        return drawn(going=order, signed=order.signed(), n_left=n_left)
    n_all = len(order.work)
    what = "One bonus is" if n_all == 1 else f"All {n_all} bonuses are"
    leave_notice(request, f"{what} sent: {price_of(order.total_cents)}.")
    return redirect(request.path)
