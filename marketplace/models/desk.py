"""The desk: who signs in, the host's settings, the audit log; projects, batches and their rows."""

from datetime import datetime
from typing import Any, ClassVar

from django.contrib.auth.hashers import check_password, make_password
from django.db import models
from django.db.models import Q

from marketplace.models.hits import HIT
from marketplace.models.requesters import Requester


class Role(models.TextChoices):
    """What a desk user may do."""

    HOST = "host", "host"
    REQUESTER = "requester", "requester"


class DeskUser(models.Model):
    """A name and a password; requesters' users belong to one requester, hosts to none."""

    name = models.CharField(max_length=80, unique=True)
    # Django's salted hash; empty where nobody signs in by password (the open desk of a laptop).
    password = models.CharField(max_length=128, blank=True)
    role = models.CharField(max_length=9, choices=Role)
    requester = models.ForeignKey(Requester, models.CASCADE, null=True, related_name="desk_users")
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(role=Role.HOST, requester__isnull=True)
                | Q(role=Role.REQUESTER, requester__isnull=False),
                name="desk_user_has_its_requester",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def set_password(self, password: str) -> None:
        """Keep the hash of a password; does not save."""
        self.password = make_password(password)

    def has_password(self, password: str) -> bool:
        """Return whether this is the password; takes as long for users who have none."""
        return check_password(password, self.password or make_password(None))


class DeskSession(models.Model):
    """One signed-in browser; only the digest of its cookie is kept.

    A host may open a requester's desk: `acting_for` is that requester, and the audit log says so.
    """

    user = models.ForeignKey(DeskUser, models.CASCADE, related_name="sessions")
    acting_for = models.ForeignKey(Requester, models.CASCADE, null=True, related_name="+")
    token_digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    # One sentence for the next page, shown once.
    notice = models.CharField(max_length=500, blank=True)
    # The page of the requester's own site that one came from, to go back to.
    came_from = models.CharField(max_length=500, blank=True)

    def __str__(self) -> str:
        return f"desk session of {self.user_id}"


class Setting(models.Model):
    """One choice by name; it outranks the same choice in Django's settings (configuration.py)."""

    name = models.CharField(max_length=60, unique=True)
    value = models.JSONField()
    changed_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class AuditEntry(models.Model):
    """One sentence per change; never changed and never deleted. It holds no secret and no mail."""

    at = models.DateTimeField()
    who = models.CharField(max_length=220)
    what = models.CharField(max_length=600)

    class Meta:
        indexes = [models.Index(fields=["at"], name="audit_at")]

    def __str__(self) -> str:
        return f"{self.who}: {self.what}"

    @classmethod
    def record(cls, who: str, what: str, now: datetime) -> None:
        """Add one sentence to the log; call it in the transaction that makes the change."""
        cls.objects.create(at=now, who=who[:220], what=what[:600])


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
