"""A collection's ledger: owed and paid, what could not be, compensation and unfinished work."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from annotation.dashboard.collection_context import CollectionContext, collection_page
from annotation.dashboard.forms import cents_of, number_of
from annotation.dashboard.money.assignments import assignments_of, decisions_of, lines_of
from annotation.dashboard.money.hourly_pay import Pace, pace_of
from annotation.dashboard.money.spending import spending_of
from annotation.dashboard.worker_names import People, people_of
from annotation.reports.attention import attention_to, refused_bonuses
from collector.models import Collection, Stage
from tasks.costs.estimates import estimate, totals
from tasks.models import ON_MARKETPLACE, Lease, LeaseState, Payment, PaymentKind, PaymentState
from tasks.paying import bonuses
from tasks.paying.compensation import compensate, share_cents
from tasks.work.kinds.registry import kind_of

PER_PAGE = 25
MAX_REASON = 500
_bonus = Q(kind=PaymentKind.BONUS)
# What is paid beside rewards, by who decided it.
BESIDE = {
    "all": ("All", ~Q(kind=PaymentKind.REWARD)),
    "given": ("Given by a person", _bonus & ~Q(by="") & ~Q(by=ON_MARKETPLACE)),
    "rules": ("Promised by a rule", _bonus & Q(by="")),
    "elsewhere": ("Paid on the marketplace", _bonus & Q(by=ON_MARKETPLACE)),
    "compensation": ("Compensation", Q(kind=PaymentKind.COMPENSATION)),
}
SHOWN = 100
# A job has yet to look at what was saved.
BY_ITSELF = Q(state=LeaseState.EXPIRED, compensated=False)


@dataclass(frozen=True)
class LedgerLine:
    """Payments of one stage: how many, and cents owed, refused, confirmed and in fees.

    `bonuses` is what of them is paid beside the rewards, in cents.
    """

    stage: Stage
    payments: int
    owed: int
    refused: int
    confirmed: int
    fees: int
    bonuses: int
    compensations: int
    pace: Pace | None


@collection_page
@require_safe
def money(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Show the budget, the ledger by stage, what is due for unfinished work, and every change."""
    people = people_of(context.collection)
    wanted = request.GET.get("show", "")
    wanted = wanted if wanted in BESIDE else "all"
    rows = Payment.objects.filter(BESIDE[wanted][1], collection=context.collection)
    rows = rows.select_related("stage", "lease__submission", "lease__session__empty_submission")
    rows = rows.order_by("-pk")
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    submitted_empty = assignments_of(context.collection, "submitted_empty").order_by("pk")
    revisions = context.collection.revisions.filter(key="budget_cents").order_by("-at", "-pk")
    return context.render(
        request,
        "money/ledger.html",
        tab="money",
        money=spending_of(
            context.collection, totals(context.collection, estimate(context.collection))
        ),
        ledger=_ledger(context),
        debts=debts_of(context, people),
        decisions=decisions_of(context, attention_to([context.collection])[context.collection.pk]),
        submitted_empty=lines_of(
            submitted_empty.select_related("posting__stage")[:PER_PAGE], people
        ),
        page=page,
        wanted=wanted,
        filters=[(name, words) for name, (words, _) in BESIDE.items()],
        beside=[(row, people.name(row.worker_id)) for row in page],
        refused=[(row, people.name(row.worker_id)) for row in _refused(context)[:PER_PAGE]],
        revisions=revisions[:PER_PAGE],
    )


@collection_page
@require_POST
def compensate_lease(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Pay for unfinished work that no job pays for, by a HIT that only its worker can take."""
    key = number_of(request.POST.get("lease", ""))
    lease = get_object_or_404(unfinished(context).exclude(BY_ITSELF), pk=key)
    debt = debt_of(context, lease, people_of(context.collection))
    cents = cents_of(request.POST.get("amount", ""), context.parameters.pay.minor_units)
    if not cents or cents > debt.most_cents:
        most = context.price(debt.most_cents)
        messages.error(request, f"Write an amount above zero, at most the HIT's reward of {most}.")
        return redirect(context.url("money") + "#unfinished")
    reason = request.POST.get("reason", "").strip()[:MAX_REASON] or "Work that was saved."
    payment = compensate(lease, cents, reason, timezone.now())
    if payment is None:
        amount = context.price(cents)
        messages.error(request, f"The budget cannot hold {amount}: raise it, then compensate.")
        return redirect(context.url("money") + "#unfinished")
    sentence = (
        f"{debt.who} is owed {context.price(payment.amount_cents)}: a HIT for them alone opens."
    )
    messages.success(request, sentence)
    return redirect(context.url("money"))


@collection_page
@require_POST
def decide_bonus(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Ask the marketplace again for a bonus it refused, pay it by a HIT, or let it go."""
    key = number_of(request.POST.get("bonus", ""))
    rows = Payment.objects.filter(collection=context.collection, kind=PaymentKind.BONUS)
    payment = get_object_or_404(rows, pk=key)
    if request.POST.get("how") == "apart":
        done = bonuses.pay_apart(payment, timezone.now())
        sentence = "A HIT that only this worker can take opens within a minute."
    elif request.POST.get("how") == "drop":
        done = bonuses.drop(payment)
        sentence = "Dropped: nothing is owed, and the budget has the money back."
    else:
        done = bool(bonuses.ask_again(rows.filter(pk=key)))
        sentence = "The marketplace is asked again within a minute."
    if done:
        messages.success(request, sentence)
    else:
        messages.error(request, "It is refused no longer: this page shows how it stands.")
    return redirect(context.url("money"))


def _refused(context: CollectionContext) -> QuerySet[Payment]:
    rows = refused_bonuses().filter(collection=context.collection)
    return rows.select_related("stage", "worker__identity").order_by("pk")


def _ledger(context: CollectionContext) -> list[LedgerLine]:
    sums = _sums(context.collection)
    lines = []
    for stage in context.collection.stages.all():
        row = sums.get(stage.pk)
        if row:
            lines.append(LedgerLine(stage=stage, pace=pace_of(stage, context.parameters), **row))
    return lines


def _sums(collection: Collection) -> dict[int, dict[str, Any]]:
    due, confirmed = Q(state=PaymentState.DUE), Q(state=PaymentState.CONFIRMED)
    refused = Q(state=PaymentState.REFUSED)
    rows = (
        Payment.objects.filter(collection=collection)
        .exclude(state=PaymentState.WITHHELD)
        .order_by()
        .values("stage_id")
        .annotate(
            payments=Count("pk"),
            owed=Sum("amount_cents", filter=due, default=0),
            refused=Sum("amount_cents", filter=refused, default=0),
            confirmed=Sum("amount_cents", filter=confirmed, default=0),
            fees=Sum("fee_cents"),
            bonuses=Sum("amount_cents", filter=_bonus, default=0),
            compensations=Count("pk", filter=Q(kind=PaymentKind.COMPENSATION)),
        )
    )
    return {
        row["stage_id"]: {name: value for name, value in row.items() if name != "stage_id"}
        for row in rows
    }


@dataclass(frozen=True)
class Debt:
    """`cents` is the reward's share by how much was saved; `most_cents` the whole reward."""

    lease: Lease
    who: str
    share_percent: int
    cents: int
    most_cents: int

    @property
    def by_itself(self) -> bool:
        """Tell whether a job pays it: once it can be handed in no more, and the budget holds it."""
        return self.lease.state == LeaseState.EXPIRED and not self.lease.compensated

    @property
    def late_until(self) -> datetime | None:
        """Return until when it can still be handed in, None once that is over."""
        until = self.lease.session.signed_until
        return until if until and until > timezone.now() else None


def unfinished(context: CollectionContext) -> QuerySet[Lease]:
    """Return the leases that ended with a draft and are not paid, nor the worker's other stays.

    What was given back is left out while a job has yet to pay for another stay at the same unit:
    a worker's saved work of a unit is paid once.
    """
    others = Lease.objects.filter(unit=OuterRef("unit"), worker=OuterRef("worker"))
    held = Q(state__in=[LeaseState.LIVE, LeaseState.SUBMITTED])
    return (
        Lease.objects.filter(
            unit__stage__collection=context.collection,
            state__in=[LeaseState.EXPIRED, LeaseState.RETURNED],
            draft__isnull=False,
        )
        .exclude(Exists(others.filter(held | Q(paid=True) | Q(submission__isnull=False))))
        .exclude(~BY_ITSELF, Exists(others.filter(BY_ITSELF)))
        .select_related("unit__stage", "session__posting")
        .order_by("-closed_at", "-pk")
        .annotate(n_items=Count("unit__items"))
    )


def debts_of(context: CollectionContext, people: People) -> list[Debt]:
    """Return the newest unfinished work with anything saved in it; one query."""
    found = [debt_of(context, lease, people) for lease in unfinished(context)[:SHOWN]]
    return [debt for debt in found if debt.cents]


def debt_of(context: CollectionContext, lease: Lease, people: People) -> Debt:
    """Return what is due for one lease."""
    stage = lease.unit.stage
    kind, table = kind_of(stage), context.parameters.stages()[stage.name]
    data = (lease.draft or {}).get("data")
    n_items: int = lease.n_items  # type: ignore[attr-defined]
    reward = lease.session.posting.reward_cents
    share = kind.share_done(data if isinstance(data, dict) else {}, table, n_items)
    return Debt(
        lease=lease,
        who=people.name(lease.worker_id),
        share_percent=round(share * 100),
        cents=share_cents(share, reward),
        most_cents=reward,
    )
