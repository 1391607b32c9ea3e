"""A worker asking for a qualification."""

from django.db import models
from django.db.models import Q

from marketplace.identifiers import new_entity_id
from marketplace.models.qualification_type import QualificationType
from marketplace.models.worker import Worker


class RequestState(models.TextChoices):
    """What became of a request."""

    STARTED = "started", "test in progress"
    PENDING = "pending", "waiting for the requester"
    GRANTED = "granted", "granted"
    REJECTED = "rejected", "declined"


class QualificationRequest(models.Model):
    """At most one request per worker and type is open: a test in progress, or waiting."""

    request_id = models.CharField(max_length=64, unique=True, default=new_entity_id)
    qualification_type = models.ForeignKey(
        QualificationType, models.CASCADE, related_name="requests"
    )
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="qualification_requests")
    state = models.CharField(max_length=8, choices=RequestState, default=RequestState.PENDING)
    # When a test was begun; until it is handed in, `submitted_at` is that same time.
    started_at = models.DateTimeField(null=True)
    submitted_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True)
    reason = models.TextField(blank=True)
    # The test as it was when begun, and the answers (QuestionFormAnswers XML).
    test = models.TextField(blank=True)
    answer = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["qualification_type", "worker"],
                condition=Q(state__in=[RequestState.STARTED, RequestState.PENDING]),
                name="one_pending_request_per_worker_and_type",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.request_id} ({self.state})"
