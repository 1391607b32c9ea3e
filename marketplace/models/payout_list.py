"""A list of payments for the host to make outside."""

from django.db import models


class PayoutList(models.Model):
    """Its lines are fixed when it is made, so that it can be downloaded any number of times."""

    made_at = models.DateTimeField()
    made_by = models.CharField(max_length=80)

    def __str__(self) -> str:
        return f"list {self.pk}"
