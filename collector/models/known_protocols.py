"""Which protocols the processes that do jobs know."""

from django.db import models


class KnownProtocols(models.Model):
    """What one process said of itself last; `process` is its host and its number there."""

    process = models.CharField(max_length=200, unique=True)
    names = models.JSONField()
    seen_at = models.DateTimeField()

    class Meta:
        ordering = ["process"]

    def __str__(self) -> str:
        return self.process
