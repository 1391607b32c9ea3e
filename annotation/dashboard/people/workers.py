"""One worker of a collection: what they made, what they are called, leaving all of it out."""

from collections.abc import Iterable

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from annotation.dashboard.access import name_of
from annotation.dashboard.collection_context import CollectionContext, collection_page
from annotation.dashboard.money.assignments import lines_of
from annotation.dashboard.people.worker_list import lines_of_workers
from annotation.dashboard.worker_names import people_of
from annotation.decisions.exclusions import exclude_worker, include_again
from annotation.models import Exclusion
from common.actions import ActionError
from common.seen_version import version_of
from tasks.models import Session, Worker
from tasks.people.given_names import LONGEST_NAME, is_known, name_worker

PER_PAGE = 25


@collection_page
@require_safe
def worker(request: HttpRequest, context: CollectionContext, number: int) -> HttpResponse:
    """Show what a worker handed in, and whether it is left out."""
    people = people_of(context.collection)
    row = _worker(context, number)
    sessions = Session.objects.filter(worker=row, posting__stage__collection=context.collection)
    handed_in = Q(leases__submission__isnull=False) | Q(empty_submission__isnull=False)
    sessions = sessions.filter(handed_in).distinct().select_related("posting__stage")
    page = Paginator(sessions.order_by("-pk"), PER_PAGE).get_page(request.GET.get("page"))
    acts = list(_acts(context, row))
    return context.render(
        request,
        "people/worker.html",
        tab="people",
        number=number,
        who=people.name(row.pk),
        given=people.given.get(row.pk, ""),
        can_be_named=is_known(row),
        row=row,
        made=lines_of_workers(context, row.pk)[0],
        page=page,
        lines=lines_of(page, people),
        acts=acts,
        seen=_seen(acts),
        left_out=bool(acts) and acts[0].back_at is None,
        longest_name=LONGEST_NAME,
        typed=request.session.pop(_typed(context, number), ""),
    )


@collection_page
@require_POST
def leave_out_worker(request: HttpRequest, context: CollectionContext, number: int) -> HttpResponse:
    """Leave out everything by a worker, or take that back; a refused act keeps what was typed."""
    row, why = _worker(context, number), request.POST.get("why", "")
    by, now = name_of(request), timezone.now()
    try:
        with context.unchanged(request, lambda: _seen(_acts(context, row))):
            if request.POST.get("act") == "back":
                newest = _acts(context, row).first()
                if newest is None:
                    raise ActionError("Nothing by this worker is excluded.")
                include_again(newest, why, by, now)
                sentence = "Taken back: their work counts again, and every verdict follows it."
            else:
                exclude_worker(context.collection, row, why, by, now)
                sentence = (
                    "Excluded. Verdicts follow the votes that are left, and what is missing then "
                    "is asked for again; nobody's pay changes."
                )
    except ActionError as error:
        request.session[_typed(context, number)] = why
        messages.error(request, error.on_page)
    else:
        messages.success(request, sentence)
    return redirect(context.url("worker", number=number))


@collection_page
@require_POST
def name_one(request: HttpRequest, context: CollectionContext, number: int) -> HttpResponse:
    """Note what the requester calls the worker; a blank name is forgotten."""
    try:
        name_worker(_worker(context, number), request.POST.get("name", ""))
    except ActionError as error:
        messages.error(request, error.on_page)
    else:
        messages.success(request, "Saved. It is shown on these pages alone.")
    return redirect(context.url("worker", number=number))


def _worker(context: CollectionContext, number: int) -> Worker:
    found = people_of(context.collection).worker(number)
    if found is None:
        raise Http404
    return Worker.objects.get(pk=found)


def _acts(context: CollectionContext, row: Worker) -> QuerySet[Exclusion]:
    """Return every time that the worker's work was left out, the newest first."""
    return Exclusion.objects.filter(collection=context.collection, worker=row)


def _seen(acts: Iterable[Exclusion]) -> str:
    return version_of([(one.pk, one.back_at) for one in acts])


def _typed(context: CollectionContext, number: int) -> str:
    return f"leave out {context.collection.pk} {number}"
