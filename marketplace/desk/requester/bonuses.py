"""A requester's bonuses for a batch's or a HIT's work: chosen, looked at, sent once."""

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet, Sum
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from marketplace import clock
from marketplace.desk.access import record, requester_page
from marketplace.desk.batches.bonuses import (
    BonusOrder,
    BonusOrderError,
    make_order,
    order_signed,
    rewardable,
    send_some,
)
from marketplace.desk.batches.calls import call_of
from marketplace.desk.pages import leave_notice, page_of, show
from marketplace.desk.requester.batches import own_batch
from marketplace.desk.requester.hits import NO_HIT
from marketplace.desk.sessions import DeskRequest
from marketplace.hits.lifecycle import settle_due
from marketplace.models import HIT, Assignment, AssignmentState
from marketplace.money.amounts import price_of, typed_cents
from marketplace.operations.hit_types import MOST_CENTS
from marketplace.web.pages import first_or_error
from marketplace.wire.errors import WireError

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
