"""What a worker has done, and what became of it."""

from django.core.paginator import Paginator
from django.db.models import OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce
from django.http import HttpResponse
from django.views.decorators.http import require_safe

from marketplace import clock
from marketplace.lifecycle import settle_due
from marketplace.models import Assignment, BonusPayment, State
from marketplace.site.pages import SignedInRequest, show, worker_page

PAGE_SIZE = 25


@worker_page
@require_safe
def history(request: SignedInRequest) -> HttpResponse:
    """Show everything the worker ever accepted and is done with, newest first."""
    settle_due(clock.now(), assignments__worker=request.worker)
    bonuses = (
        BonusPayment.objects.filter(assignment=OuterRef("pk"))
        .order_by()
        .values("assignment")
        .annotate(total=Sum("amount_cents"))
        .values("total")
    )
    rows = (
        Assignment.objects.filter(worker=request.worker)
        .exclude(state=State.ACCEPTED)
        .select_related("hit__hit_type__requester")
        .annotate(bonus_cents=Coalesce(Subquery(bonuses), 0))
        .order_by("-pk")
    )
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    return show(request, "history.html", here="history", page=page)
