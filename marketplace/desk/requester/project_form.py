"""The form of a requester's project, in the units that people think in."""

from decimal import Decimal
from typing import Any

from django import forms

from marketplace.configuration import auto_approval_cap_seconds
from marketplace.desk.seen_form import SeenForm
from marketplace.models import Project, ProjectKind, Requester
from marketplace.people.groups import groups

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
