"""Inspecting qualification submissions by hand: read, grant or decline with a note, next one."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from annotation.dashboard.access import name_of
from annotation.dashboard.collection_context import CollectionContext, collection_page
from annotation.dashboard.questions.reading import sheets_of, submission_of
from annotation.dashboard.worker_names import People, people_of
from collector.models import Stage
from common.sent_form import OutOfDateError, version_of
from tasks.models import Grant, GrantState
from tasks.people import qualifications


@collection_page
@require_safe
def inspections(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Lead to the first stage where somebody waits, else to the first qualification there is."""
    stages = _stages(context)
    if not stages:
        return context.render(request, "people/no_qualification.html", tab="qualifications")
    waiting = Grant.objects.filter(
        qualification__stage__in=stages, state=GrantState.SUBMITTED
    ).order_by("qualification__stage__position")
    first = waiting.select_related("qualification__stage").first()
    stage = first.qualification.stage if first else stages[0]
    return redirect(context.url("qualification", stage=stage.name))


@collection_page
@require_safe
def inspection(
    request: HttpRequest, context: CollectionContext, stage: str, number: int = 0
) -> HttpResponse:
    """Show one worker's submission (by default the one that waits longest) beside all others."""
    row = _stage(context, stage)
    people = people_of(context.collection)
    tested = Grant.objects.filter(qualification__stage=row, submitted_at__isnull=False)
    grants = list(tested.order_by("submitted_at", "pk"))
    waiting = [grant for grant in grants if grant.state == GrantState.SUBMITTED]
    decided = [grant for grant in grants if grant.state != GrantState.SUBMITTED]
    decided.sort(key=lambda grant: str(grant.decided_at), reverse=True)
    shown = _grant(people, grants, number) if number else next(iter(waiting), None)
    submission = submission_of(row, shown.worker_id) if shown else None
    return context.render(
        request,
        "people/qualification.html",
        tab="qualifications",
        stage=row,
        stages=_stages(context),
        waiting=_named(people, waiting),
        decided=_named(people, decided),
        grant=shown,
        name=people.name(shown.worker_id) if shown else "",
        number=people.number(shown.worker_id) if shown else None,
        seen=_seen(shown) if shown else "",
        submission=submission,
        sheets=sheets_of(submission, context.collection.corpus) if submission else [],
    )


@collection_page
@require_POST
def decide(
    request: HttpRequest, context: CollectionContext, stage: str, number: int
) -> HttpResponse:
    """Record the decision and go to the next submission that waits; it may be taken back."""
    row = _stage(context, stage)
    people = people_of(context.collection)
    grants = list(Grant.objects.filter(qualification__stage=row, submitted_at__isnull=False))
    grant = _grant(people, grants, number)
    granted = {"grant": True, "decline": False}.get(request.POST.get("decision", ""))
    note = request.POST.get("note", "").strip()
    if granted is None:
        messages.error(request, "Choose Grant or Decline.")
    elif not granted and not note:
        messages.error(request, "Say in the note why you decline: the worker reads it.")
    else:
        try:
            with context.unchanged(request, lambda: _seen(grant)):
                qualifications.decide(
                    grant, granted=granted, note=note, by=name_of(request), now=timezone.now()
                )
        except OutOfDateError as error:
            messages.error(request, str(error))
            return redirect(context.url("submission", stage=stage, number=number))
        done = "may now take the main task" if granted else "is declined"
        messages.success(request, f"{people.name(grant.worker_id)} {done}.")
        return redirect(context.url("qualification", stage=stage))
    return redirect(context.url("submission", stage=stage, number=number))


def _seen(grant: Grant) -> str:
    """Return the version of what was handed in and decided."""
    row = Grant.objects.get(pk=grant.pk)
    return version_of(row.state, row.submitted_at, row.decided_at, row.decided_by)


def _stages(context: CollectionContext) -> list[Stage]:
    tables = context.parameters.stages()
    return [row for row in context.collection.stages.all() if tables[row.name].qualifies]


def _stage(context: CollectionContext, name: str) -> Stage:
    row = get_object_or_404(context.collection.stages, name=name)
    if not context.parameters.stages()[row.name].qualifies:
        raise Http404
    return row


def _grant(people: People, grants: list[Grant], number: int) -> Grant:
    worker = people.worker(number)
    found = next((grant for grant in grants if grant.worker_id == worker), None)
    if worker is None or found is None:
        raise Http404
    return found


def _named(people: People, grants: list[Grant]) -> list[tuple[Grant, str, int | None]]:
    return [
        (grant, people.name(grant.worker_id), people.number(grant.worker_id)) for grant in grants
    ]
