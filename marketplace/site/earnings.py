"""Four amounts that are never mixed: pending, approved, owed, paid."""

from django.db.models import Sum
from django.http import HttpResponse
from django.views.decorators.http import require_safe

from marketplace import clock, funds
from marketplace.lifecycle import settle_due
from marketplace.models import Assignment, Kind, LedgerEntry, Payout, State
from marketplace.site.pages import SignedInRequest, show, worker_page


@worker_page
@require_safe
def earnings(request: SignedInRequest) -> HttpResponse:
    """Show what waits for approval, was approved, is owed and was paid, with each payment."""
    worker = request.worker
    settle_due(clock.now(), assignments__worker=worker)
    pending = Assignment.objects.filter(worker=worker, state=State.SUBMITTED)
    earned = LedgerEntry.objects.filter(worker=worker)
    payouts = Payout.objects.filter(worker=worker).order_by("-paid_on", "-pk")
    return show(
        request,
        "earnings.html",
        here="earnings",
        pending_cents=pending.aggregate(n=Sum("reward_cents", default=0))["n"],
        n_pending=pending.count(),
        approved_cents=_sum(earned.filter(kind=Kind.REWARD)),
        bonus_cents=_sum(earned.filter(kind=Kind.BONUS)),
        owed_cents=funds.owed_cents(worker),
        paid_cents=_sum(payouts),
        payouts=payouts,
    )


def _sum(rows: object) -> int:
    return rows.aggregate(n=Sum("amount_cents", default=0))["n"]  # type: ignore[attr-defined]
