"""Workers' reports that something is wrong with a HIT, until a requester has dealt with them."""

from dataclasses import dataclass

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from annotation.dashboard.desk import Desk, on_desk
from annotation.dashboard.people import people_of
from tasks.models import ProblemReport

PER_PAGE = 20


@dataclass(frozen=True)
class Report:
    """A report with what to call the worker."""

    row: ProblemReport
    who: str


@on_desk
@require_safe
def problems(request: HttpRequest, desk: Desk) -> HttpResponse:
    """Show the open reports, oldest first, or the resolved ones, newest first."""
    resolved = request.GET.get("show") == "resolved"
    rows = _reports(desk).filter(resolved_at__isnull=not resolved)
    rows = rows.order_by("-resolved_at" if resolved else "at", "pk")
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    people = people_of(desk.collection)
    return desk.render(
        request,
        "problems.html",
        tab="problems",
        resolved=resolved,
        page=page,
        reports=[Report(row, people.name(row.lease.worker_id)) for row in page],
        partners=desk.collection.stages.filter(kind="dialog").exists(),
        any=bool(page.object_list) or _reports(desk).exists(),
    )


@on_desk
@require_POST
def resolve(request: HttpRequest, desk: Desk) -> HttpResponse:
    """Mark a report as resolved, or open it again."""
    given = request.POST.get("report", "")
    key = int(given) if given.isascii() and given.isdigit() and len(given) < 19 else 0
    row = get_object_or_404(_reports(desk), pk=key)
    again = request.POST.get("again") == "yes"
    _reports(desk).filter(pk=row.pk).update(resolved_at=None if again else timezone.now())
    messages.success(request, "Opened again." if again else "Marked as resolved.")
    return redirect(desk.url("problems") + ("?show=resolved" if again else ""))


def _reports(desk: Desk) -> QuerySet[ProblemReport]:
    rows = ProblemReport.objects.filter(lease__unit__stage__collection=desk.collection)
    return rows.select_related("lease__unit__stage")
