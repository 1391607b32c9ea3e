"""One publication of a project: the rows of one CSV, each of which becomes a HIT."""

from typing import Any

from django.db import models

from marketplace.models.project import Project


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

    def __str__(self) -> str:
        return self.name
