"""A worker asking for a qualification."""

from django.db import models
from django.db.models import Q

from marketplace.identifiers import new_entity_id
from marketplace.models.qualification_type import QualificationType
from marketplace.models.worker import Worker


class RequestState(models.TextChoices):
    """What became of a request."""

    PENDING = "pending", "waiting for the requester"
    GRANTED = "granted", "granted"
    REJECTED = "rejected", "declined"


class QualificationRequest(models.Model):
    """At most one request per worker and type waits for an answer."""

    request_id = models.CharField(max_length=64, unique=True, default=new_entity_id)
    qualification_type = models.ForeignKey(
        QualificationType, models.CASCADE, related_name="requests"
    )
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="qualification_requests")
    state = models.CharField(max_length=8, choices=RequestState, default=RequestState.PENDING)
    submitted_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True)
    reason = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["qualification_type", "worker"],
                condition=Q(state=RequestState.PENDING),
                name="one_pending_request_per_worker_and_type",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.request_id} ({self.state})"
