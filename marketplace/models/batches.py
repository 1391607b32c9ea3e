"""What a requester publishes from the desk: projects, batches and their rows."""

from typing import Any, ClassVar

from django.db import models
from django.db.models import Q

from marketplace.models.hits import HIT
from marketplace.models.requesters import Requester


class ProjectKind(models.TextChoices):
    """What the worker is shown."""

    TEMPLATE = "template", "an HTML template, one HIT per row of a CSV"
    LINK = "link", "a link to a survey with a completion code"


class Project(models.Model):
    """Changing it touches no HIT that is already published."""

    # What the id of a project begins with where programs name it as a HIT layout.
    LAYOUT: ClassVar[str] = "LAYOUT"

    requester = models.ForeignKey(Requester, models.CASCADE, related_name="projects")
    kind = models.CharField(max_length=8, choices=ProjectKind)
    name = models.CharField(max_length=80)
    title = models.CharField(max_length=128)
    description = models.CharField(max_length=2000)
    keywords = models.CharField(max_length=1000, blank=True)
    reward_cents = models.BigIntegerField()
    max_assignments = models.IntegerField(default=1)
    assignment_duration_seconds = models.BigIntegerField()
    lifetime_seconds = models.BigIntegerField()
    auto_approval_delay_seconds = models.BigIntegerField()
    # Ids of qualification types that a worker needs, all of them.
    groups = models.JSONField(default=list)
    html = models.TextField(blank=True)
    # Values go into the template as text, or as the HTML they are.
    values_are_html = models.BooleanField(default=False)
    survey_url = models.CharField(max_length=2000, blank=True)
    completion_code = models.CharField(max_length=80, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "name"], name="one_project_per_requester_and_name"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_link(self) -> bool:
        """Return whether workers are sent to a survey elsewhere."""
        return self.kind == ProjectKind.LINK

    @property
    def layout_id(self) -> str:
        """Return the HITLayoutId by which programs fill this project."""
        return f"{self.LAYOUT}{self.pk}"

    def terms(self) -> dict[str, Any]:
        """Return what a batch keeps of the project: every field but its key, owner and date."""
        left_out = {"id", "requester", "created_at"}
        names = [field.name for field in self._meta.concrete_fields if field.name not in left_out]
        return {name: getattr(self, name) for name in names}


class Batch(models.Model):
    """`terms` are the project's own at publication, so that later changes touch nothing here."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="batches")
    name = models.CharField(max_length=120)
    columns = models.JSONField(default=list)
    # Template's variable -> column of the CSV.
    mapping = models.JSONField(default=dict)
    terms: Any = models.JSONField(default=dict)
    created_at = models.DateTimeField()
    # Set when the requester said so; rows without a HIT are then published one after the other.
    published_at = models.DateTimeField(null=True)
    # Names the form that its rows came with, so that a form sent twice is one batch.
    form_key = models.CharField(max_length=64, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "form_key"],
                condition=~Q(form_key=""),
                name="one_batch_per_form",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class BatchRow(models.Model):
    """The values of a row by column, and the HIT made of it."""

    batch = models.ForeignKey(Batch, models.CASCADE, related_name="rows")
    position = models.IntegerField()
    inputs = models.JSONField(default=dict)
    hit = models.OneToOneField(HIT, models.SET_NULL, null=True, related_name="batch_row")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["batch", "position"], name="one_row_per_position"),
        ]

    def __str__(self) -> str:
        return f"row {self.position} of {self.batch_id}"
