"""What a worker answered to one version of a collection's consent text."""

from django.db import models

from tasks.models.worker import Worker


class Consent(models.Model):
    """Shown before the first work of a person and version; the last answer counts."""

    worker = models.ForeignKey(Worker, models.CASCADE, related_name="consents")
    text = models.ForeignKey("collector.CollectionText", models.PROTECT, related_name="+")
    agreed = models.BooleanField()
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["worker", "text"], name="consent_answered_once")
        ]

    def __str__(self) -> str:
        return "agreed" if self.agreed else "declined"
