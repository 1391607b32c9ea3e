"""A requester's projects: written, changed, looked at, and given rows."""

from django.db import transaction
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from common.long_bodies import long_bodies_from
from common.sent_form import form_key, made_before
from common.spreadsheet import Table, UploadError, read_table
from marketplace import clock
from marketplace.desk.access import knows, record, requester_page
from marketplace.desk.batches.publishing import BatchError, kind_of, make_batch, refresh_drafts
from marketplace.desk.pages import leave_notice, show, text_from
from marketplace.desk.requester.audience import audience_summary
from marketplace.desk.requester.project_form import STARTER, form_class
from marketplace.desk.sessions import DeskRequest
from marketplace.hits.questions.template import template_of, variables, warnings
from marketplace.models import Project, ProjectKind, Requester
from marketplace.models.identifiers import digest, new_entity_id
from marketplace.router import DATABASE
from marketplace.web.pages import PageError, first_or_error

NO_PROJECT = "There is no such project of yours. Choose one from the list."


@requester_page
def projects(request: DeskRequest) -> HttpResponse:
    """Show the requester's projects, the newest first."""
    rows = request.requester.projects.annotate(n_batches=Count("batches")).order_by("-pk")
    return show(request, "projects.html", here="projects", projects=rows)


@requester_page
def new_project(request: DeskRequest, kind: str) -> HttpResponse:
    """Write a new project of this kind."""
    if kind not in ProjectKind.values:
        raise PageError("There is no such kind of project. Choose one from the list.")
    if request.method != "POST":
        form = form_class(kind)(request.requester, None)
        if kind == ProjectKind.TEMPLATE:
            form.initial["html"] = STARTER
        return show(request, "new_project.html", here="projects", form=form, kind=kind)
    with transaction.atomic(using=DATABASE):
        _lock_names(request)
        form = form_class(kind)(request.requester, None, request.POST)
        if form.is_valid():
            made = Project.objects.create(
                requester=request.requester, kind=kind, created_at=clock.now(), **form.values()
            )
            record(request, f"Wrote the project {made.name}")
            leave_notice(request, f"{made.name} is kept. Nothing is published yet.")
            return redirect("desk-project", key=made.pk)
    return show(request, "new_project.html", status=400, here="projects", form=form, kind=kind)


def _lock_names(request: DeskRequest) -> None:
    """Let a second click wait for the first one, to find that its project's name is taken."""
    Requester.objects.select_for_update(no_key=True).get(pk=request.requester.pk)


def own_project(request: DeskRequest, key: int) -> Project:
    """Return the requester's own project; raises PageError for any other."""
    return first_or_error(request.requester.projects.filter(pk=key), NO_PROJECT)


@requester_page
def project(request: DeskRequest, key: int) -> HttpResponse:
    """Show a project and keep what is changed about it."""
    found = own_project(request, key)
    if request.method != "POST":
        return _drawn(request, found, form=form_class(found.kind)(request.requester, found))
    with transaction.atomic(using=DATABASE):
        _lock_names(request)
        found = Project.objects.select_for_update().get(pk=found.pk)
        form = form_class(found.kind)(request.requester, found, request.POST)
        if form.is_valid() and form.changed_data:
            for name, value in form.values().items():
                setattr(found, name, value)
            found.save()
            refresh_drafts(found)
            record(request, f"Changed the project {found.name}")
    if form.errors:
        return _drawn(request, found, 400, form=form)
    leave_notice(request, "Your changes are kept. HITs already published stay as they were.")
    return redirect("desk-project", key=key)


def _drawn(
    request: DeskRequest, found: Project, status: int = 200, **context: object
) -> HttpResponse:
    terms = found.terms()
    html = template_of(terms)
    return show(
        request,
        "project.html",
        status=status,
        here="projects",
        project=found,
        variables=variables(html),
        warnings=warnings(html),
        once=new_entity_id(),
        batches=found.batches.annotate(n_rows=Count("rows")).order_by("-pk"),
        reach=audience_summary(kind_of(found, terms)),
        **context,
    )


@long_bodies_from(knows)
@requester_page
@require_POST
def add_rows(request: DeskRequest, key: int) -> HttpResponse:
    """Make a batch of an uploaded CSV; a template without variables needs none."""
    found = own_project(request, key)
    name, text = f"Batch {found.batches.count() + 1}", ""
    try:
        if variables(template_of(found.terms())):
            text = text_from(request)
            table = read_table(text)
            name = getattr(request.FILES.get("file"), "name", name)
        else:
            table = Table([])
        with transaction.atomic(using=DATABASE):
            Project.objects.select_for_update().get(pk=found.pk)
            of_form = digest(form_key(request) + text)
            made = made_before(found.batches.all(), of_form)
            if made is None:
                made = make_batch(found, name, table, clock.now(), of_form)
                record(request, f"Added a batch to the project {found.name}")
    except (UploadError, BatchError) as error:
        form = form_class(found.kind)(request.requester, found)
        return _drawn(request, found, 400, form=form, problem=str(error))
    return redirect("desk-batch", key=made.pk)
