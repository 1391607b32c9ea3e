"""Remembers which requests were already carried out, for a day."""

from django.db import models

from marketplace.models.requester import Requester


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
