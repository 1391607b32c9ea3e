"""A group of workers that the host keeps and requesters address."""

from django.db import models

from marketplace.models.qualification_type import QualificationType


class WorkerGroup(models.Model):
    """A group is a qualification of the host's own account: its members are those who have it."""

    qualification_type = models.OneToOneField(
        QualificationType, models.CASCADE, related_name="group"
    )
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return str(self.qualification_type)
