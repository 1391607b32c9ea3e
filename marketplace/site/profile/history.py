"""What a worker has done, and what became of it."""

from django.core.paginator import Paginator
from django.db.models import Count, Prefetch
from django.http import HttpResponse
from django.views.decorators.http import require_safe

from marketplace import clock
from marketplace.hits.acceptance import late_work
from marketplace.hits.lifecycle import settle_due
from marketplace.models import HANDED_IN, Assignment, AssignmentState, BonusPayment
from marketplace.money.funds import bonus_cents
from marketplace.site.pages import SignedInRequest, show, worker_page

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
