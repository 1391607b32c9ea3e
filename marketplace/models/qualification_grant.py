"""A worker's qualification, granted or revoked."""

from django.db import models

from marketplace.models.qualification_type import QualificationType
from marketplace.models.worker import Worker


class QualificationGrant(models.Model):
    """One row per worker and type; revoking keeps the row and its reason."""

    qualification_type = models.ForeignKey(QualificationType, models.CASCADE, related_name="grants")
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="grants")
    integer_value = models.IntegerField(default=1)
    granted_at = models.DateTimeField()
    is_revoked = models.BooleanField(default=False)
    reason = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["qualification_type", "worker"], name="one_grant_per_worker_and_type"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.qualification_type_id} for {self.worker_id}: {self.integer_value}"
