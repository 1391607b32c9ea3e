"""What a worker has done and earned: pending, approved, owed, paid, and a word on a wrong one."""

from datetime import timedelta

from django.core.paginator import Paginator
from django.db.models import Count, Min, Prefetch, Q, Sum
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_POST, require_safe

from marketplace import clock, funds
from marketplace.configuration import payment_terms
from marketplace.funds import bonus_cents
from marketplace.hits.acceptance import late_work
from marketplace.hits.lifecycle import settle_due
from marketplace.models import (
    HANDED_IN,
    Assignment,
    AssignmentState,
    BonusPayment,
    HITType,
    LedgerEntry,
    LedgerKind,
    Payout,
    PayoutWay,
    Worker,
    WorkerProfile,
)
from marketplace.models.keywords import stated_terms
from marketplace.money.payout_files import statement_csv
from marketplace.money.payouts import PayoutError, choose_way, report_payment
from marketplace.web.worker_pages import SignedInRequest, leave_notice, show, worker_page

WAYS = {
    PayoutWay.PAYPAL: gettext_noop("PayPal: the mail address of your account"),
    PayoutWay.IBAN: gettext_noop("Bank transfer: your IBAN"),
    PayoutWay.GIFT: gettext_noop("Gift card: the mail address it is sent to"),
    PayoutWay.PHONE: gettext_noop("Gift card: the phone number it is sent to"),
}
RECENTLY = timedelta(days=7)


@worker_page
@require_safe
def earnings(request: SignedInRequest) -> HttpResponse:
    """Show what waits for approval, was approved, is owed and was paid, with each payment."""
    return _earnings(request)


def _earnings(request: SignedInRequest, status: int = 200, **context: str) -> HttpResponse:
    worker = request.worker
    settle_due(clock.now(), assignments__worker=worker)
    settle_due(clock.now(), assignments__worker__merged_into=worker)
    mine = Q(worker=worker) | Q(worker__merged_into=worker)
    pending = Assignment.objects.filter(mine, state=AssignmentState.SUBMITTED)
    earned = LedgerEntry.objects.filter(worker=worker)
    recent = Assignment.objects.filter(
        mine,
        state__in=[AssignmentState.SUBMITTED, AssignmentState.APPROVED],
        submitted_at__gt=clock.now() - RECENTLY,
    )
    recent_bonuses = earned.filter(kind=LedgerKind.BONUS, at__gt=clock.now() - RECENTLY)
    payouts = Payout.objects.filter(worker=worker).order_by("-paid_on", "-pk")
    reports = worker.payment_reports.order_by("-pk")
    profile = getattr(worker, "profile", None) or WorkerProfile()
    kept = {
        "way": profile.payout_way,
        "handle": profile.payout_to,
        "name": profile.payout_name,
    }
    is_waiting = any(report.answered_at is None for report in reports)
    return show(
        request,
        "earnings.html",
        status=status,
        here="earnings",
        pending_cents=pending.aggregate(n=Sum("reward_cents", default=0))["n"],
        n_pending=pending.count(),
        next_approval_at=pending.aggregate(at=Min("auto_approval_at"))["at"],
        recent_cents=recent.aggregate(n=Sum("reward_cents", default=0))["n"] + _sum(recent_bonuses),
        n_recent=recent.count(),
        reward_cents=_sum(earned.filter(kind=LedgerKind.REWARD)),
        bonus_cents=_sum(earned.filter(kind=LedgerKind.BONUS)),
        approved_cents=_sum(earned.exclude(kind=LedgerKind.PAYOUT)),
        owed_cents=funds.owed_cents(worker),
        paid_cents=_sum(payouts),
        payouts=payouts,
        reports=reports,
        can_report=earned.exists() and not is_waiting,
        terms=payment_terms(),
        stated=_stated(worker),
        ways=[(one.value, WAYS[one]) for one in PayoutWay],
        **kept | context,
    )


def _stated(worker: Worker) -> list[tuple[str, str]]:
    """Return who says how they pay of those who asked for the worker's work, and what they say."""
    done = Assignment.objects.filter(worker=worker, state__in=HANDED_IN).values("hit__hit_type")
    kinds = HITType.objects.filter(pk__in=done).exclude(requester__payment_terms="")
    asked = kinds.values_list("keywords", "requester__name", "requester__payment_terms").distinct()
    # One account may ask in several names, and workers know it by these.
    return sorted({(stated_terms(words).asked_by or name, terms) for words, name, terms in asked})


def _sum(rows: object) -> int:
    return rows.aggregate(n=Sum("amount_cents", default=0))["n"]  # type: ignore[attr-defined]


@worker_page
@require_POST
def payout_way(request: SignedInRequest) -> HttpResponse:
    """Keep how the worker wants to be paid; what is refused keeps what was typed."""
    typed = {name: request.POST.get(name, "") for name in ("way", "handle", "name")}
    try:
        is_under_way = choose_way(request.worker, **typed, now=clock.now())
    except PayoutError as refusal:
        return _earnings(request, 400, way_problem=str(refusal), **typed)
    if is_under_way:
        said = _("Kept. A payment that is on a list already still goes where you said before.")
    else:
        said = _("Kept. The next payments go there.")
    leave_notice(request, said)
    return redirect("earnings")


@worker_page
@require_safe
def statement(request: SignedInRequest) -> HttpResponse:
    """Send the worker's account as a CSV file."""
    settle_due(clock.now(), assignments__worker=request.worker)
    response = HttpResponse(statement_csv(request.worker), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="statement-{clock.now():%Y-%m-%d}.csv"'
    return response


@worker_page
@require_POST
def report(request: SignedInRequest) -> HttpResponse:
    """Tell the host that a payment is missing or wrong; what is refused keeps what was written."""
    text = request.POST.get("text", "")
    try:
        report_payment(request.worker, text, clock.now())
    except PayoutError as refusal:
        return _earnings(request, 400, problem=str(refusal), text=text)
    leave_notice(request, _("Your report was sent. The answer will show here."))
    return redirect("earnings")


PAGE_SIZE = 25
# What can be picked in the address (`?show=rejected`), in the order of the page.
SHOWN: dict[str, list[AssignmentState]] = {
    "": [state for state in AssignmentState if state != AssignmentState.ACCEPTED],
    "submitted": [AssignmentState.SUBMITTED],
    "approved": [AssignmentState.APPROVED],
    "rejected": [AssignmentState.REJECTED],
    "returned": [AssignmentState.RETURNED, AssignmentState.ABANDONED],
}


@worker_page
@require_safe
def history(request: SignedInRequest) -> HttpResponse:
    """Show everything the worker accepted and is done with, newest first, all or by outcome."""
    settle_due(clock.now(), assignments__worker=request.worker)
    mine = Assignment.objects.filter(worker=request.worker)
    picked = request.GET.get("show", "")
    picked = picked if picked in SHOWN else ""
    rows = (
        mine.filter(state__in=SHOWN[picked])
        .select_related("hit__hit_type__requester", "contest")
        .prefetch_related(Prefetch("bonuses", BonusPayment.objects.order_by("pk")))
        .annotate(bonus_cents=bonus_cents())
        .order_by("-pk")
    )
    numbers = dict(mine.order_by().values_list("state").annotate(Count("pk")))
    tabs = [(name, sum(numbers.get(state, 0) for state in SHOWN[name])) for name in SHOWN]
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    return show(
        request,
        "history.html",
        here="history",
        page=page,
        picked=picked,
        tabs=tabs,
        handed_in=HANDED_IN,
        late={assignment.pk for assignment in late_work(request.worker, clock.now())},
    )
