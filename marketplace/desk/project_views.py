"""A requester's projects: written, changed, looked at, and given rows."""

from decimal import Decimal
from typing import Any

from django import forms
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from common.long_bodies import long_bodies_from
from common.sent_form import form_key, made_before
from common.spreadsheet import Table, UploadError, read_table
from marketplace import clock
from marketplace.configuration import auto_approval_cap_seconds
from marketplace.desk.batches import BatchError, kind_of, make_batch, refresh_drafts
from marketplace.hits.access import audience_summary
from marketplace.models import Project, ProjectKind, Requester
from marketplace.models.identifiers import digest, new_entity_id
from marketplace.people.grants import groups
from marketplace.questions.template import template_of, variables, warnings
from marketplace.router import atomic
from marketplace.web.desk_pages import (
    DeskRequest,
    SeenForm,
    knows,
    leave_notice,
    record,
    requester_page,
    show,
    text_from,
)
from marketplace.web.pages import PageError, first_or_error

MINUTE, DAY = 60, 24 * 3600
STARTER = """<h1>What does the picture show?</h1>
<p><img src="${image_url}" alt="The picture to describe"></p>
<p><label><input type="radio" name="animal" value="cat" required> A cat</label></p>
<p><label><input type="radio" name="animal" value="dog"> A dog</label></p>
<p><label><input type="radio" name="animal" value="neither"> Neither</label></p>
<p><label for="note">Anything to add?</label><br>
<textarea id="note" name="note" rows="3" cols="60"></textarea></p>
"""


class ProjectForm(SeenForm):
    """What is published, for how much, to whom."""

    name = forms.CharField(label="Project name", max_length=80, help_text="For yourself.")
    title = forms.CharField(label="Title", max_length=128, help_text="Workers choose by it.")
    description = forms.CharField(
        label="Description", max_length=2000, widget=forms.Textarea(attrs={"rows": 2})
    )
    keywords = forms.CharField(label="Keywords", max_length=1000, required=False)
    reward = forms.DecimalField(
        label="Reward per assignment",
        min_value=0,
        max_value=Decimal("100000"),
        decimal_places=2,
        initial=Decimal("0.50"),
    )
    max_assignments = forms.IntegerField(
        label="Workers per HIT",
        min_value=1,
        max_value=1_000_000,
        initial=1,
    )
    minutes = forms.IntegerField(
        label="Time allotted (minutes)", min_value=1, max_value=525_600, initial=60
    )
    lifetime_days = forms.DecimalField(
        label="Open for (days)",
        min_value=Decimal("0.01"),
        max_value=365,
        decimal_places=2,
        initial=7,
    )
    approval_days = forms.DecimalField(
        label="Approved by itself after (days)",
        min_value=0,
        max_value=30,
        decimal_places=2,
        initial=3,
    )
    groups = forms.MultipleChoiceField(
        label="Only for members of",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Tick none to publish to everybody; of several, a worker needs all.",
    )

    def __init__(self, requester: Requester, project: Project | None, given: Any = None) -> None:
        self.requester, self.project = requester, project
        super().__init__(given, initial=_present(project) if project else None)
        rows = groups()
        choices = [(row.qualification_type.qualification_type_id, _said(row)) for row in rows]
        self.fields["groups"].choices = choices  # type: ignore[attr-defined]
        if not choices:
            del self.fields["groups"]

    def clean_name(self) -> str:
        """Refuse a name that another project of this requester has."""
        name = str(self.cleaned_data["name"]).strip()
        others = self.requester.projects.filter(name__iexact=name)
        if self.project is not None:
            others = others.exclude(pk=self.project.pk)
        if others.exists():
            raise forms.ValidationError("You have a project of this name. Choose another one.")
        return name

    def clean_approval_days(self) -> Decimal:
        """Refuse what the host would cut short."""
        days = Decimal(self.cleaned_data["approval_days"])
        if days * DAY > (cap := auto_approval_cap_seconds()):
            raise forms.ValidationError(
                f"This marketplace leaves {cap / DAY:g} days at most: nobody is paid before."
            )
        return days

    def values(self) -> dict[str, Any]:
        """Return the project's fields, in cents and seconds."""
        given = dict(self.cleaned_data)
        return {
            "reward_cents": int(given.pop("reward") * 100),
            "assignment_duration_seconds": given.pop("minutes") * MINUTE,
            "lifetime_seconds": int(given.pop("lifetime_days") * DAY),
            "auto_approval_delay_seconds": int(given.pop("approval_days") * DAY),
            **given,
        }


class TemplateForm(ProjectForm):
    """A project that shows an HTML template, one HIT per row."""

    html = forms.CharField(
        label="HTML template",
        max_length=60_000,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 16, "spellcheck": "false", "class": "code"}),
        help_text="Write ${column} where a value of the CSV belongs.",
    )
    values_are_html = forms.BooleanField(
        label="The CSV's values are HTML themselves",
        required=False,
        help_text="Leave it unticked for plain text, which is then shown exactly as it is written.",
    )

    def clean_html(self) -> str:
        """Refuse what no page can hold."""
        html = str(self.cleaned_data["html"]).replace("\x00", "")
        if len(html.encode()) > 60_000:
            raise forms.ValidationError("The template is longer than 60,000 bytes. Shorten it.")
        return html


class LinkForm(ProjectForm):
    """A project that sends workers to a survey elsewhere."""

    survey_url = forms.URLField(
        label="Address of the survey", max_length=2000, assume_scheme="https"
    )
    completion_code = forms.CharField(
        label="Completion code",
        max_length=80,
        required=False,
        help_text="What the survey shows at its end. Empty: you check the codes yourself.",
    )


def form_class(kind: str) -> type[ProjectForm]:
    """Return the form of a kind of project."""
    return LinkForm if kind == ProjectKind.LINK else TemplateForm


def _said(row: Any) -> str:
    return f"{row.qualification_type.name} ({row.n_members})"


def _present(project: Project) -> dict[str, Any]:
    present = project.terms()
    present["reward"] = Decimal(project.reward_cents) / 100
    present["minutes"] = project.assignment_duration_seconds // MINUTE
    present["lifetime_days"] = Decimal(f"{project.lifetime_seconds / DAY:.4g}")
    present["approval_days"] = Decimal(f"{project.auto_approval_delay_seconds / DAY:.4g}")
    return present


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
    with atomic():
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
    """Make a second click wait for the first one, and find that the project's name is taken."""
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
    with atomic():
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
        with atomic():
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
