"""Requests to the API that were carried out already, so that none is carried out twice."""

from django.db import models

from marketplace.models.requesters import Requester


class IdempotencyToken(models.Model):
    """A UniqueRequestToken of one operation, and what that request made."""

    requester = models.ForeignKey(Requester, models.CASCADE, related_name="tokens")
    operation = models.CharField(max_length=64)
    token = models.CharField(max_length=64)
    subject = models.CharField(max_length=64)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "operation", "token"], name="one_request_per_token"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.operation} {self.token}"


class SeenRequest(models.Model):
    """A digest of one attempt; forgotten when its signature is too old to be believed anyway."""

    attempt = models.CharField(max_length=64, unique=True)
    seen_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.attempt
