"""Qualification types, who has them, and who asks for them."""

from django.db import models
from django.db.models import Q

from marketplace.hits.keywords import stated_terms
from marketplace.models.identifiers import new_entity_id
from marketplace.models.requesters import Requester
from marketplace.models.workers import Worker


class QualificationType(models.Model):
    """Its name is the requester's for as long as it is not deleted."""

    qualification_type_id = models.CharField(max_length=64, unique=True, default=new_entity_id)
    requester = models.ForeignKey(Requester, models.CASCADE, related_name="qualification_types")
    name = models.CharField(max_length=200)
    description = models.TextField()
    # Key and parameters of the marketplace's own sentence (notifications/system_messages.py).
    description_message = models.JSONField(null=True)
    keywords = models.CharField(max_length=1000, blank=True)
    is_active = models.BooleanField(default=True)
    retry_delay_seconds = models.BigIntegerField(null=True)
    # QuestionForm and AnswerKey as XML; without a key the requester decides each request.
    test = models.TextField(blank=True)
    answer_key = models.TextField(blank=True)
    test_duration_seconds = models.BigIntegerField(null=True)
    is_auto_granted = models.BooleanField(default=False)
    auto_granted_value = models.IntegerField(default=1)
    created_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "name"],
                condition=Q(deleted_at=None),
                name="one_qualification_type_per_name",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def asked_by(self) -> str:
        """Return the name of who gives it, as workers read it."""
        return stated_terms(self.keywords).asked_by or self.requester.name


class QualificationGrant(models.Model):
    """One row per worker and type; revoking keeps the row and its reason."""

    qualification_type = models.ForeignKey(QualificationType, models.CASCADE, related_name="grants")
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="grants")
    integer_value = models.IntegerField(default=1)
    granted_at = models.DateTimeField()
    is_revoked = models.BooleanField(default=False)
    reason = models.TextField(blank=True)
    # Key and parameters of the marketplace's own sentence (notifications/system_messages.py).
    reason_message = models.JSONField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["qualification_type", "worker"], name="one_grant_per_worker_and_type"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.qualification_type_id} for {self.worker_id}: {self.integer_value}"


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
    # Key and parameters of the marketplace's own sentence (notifications/system_messages.py).
    reason_message = models.JSONField(null=True)
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
