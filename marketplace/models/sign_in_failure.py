"""Sign-ins that failed lately, so that guessing becomes slow."""

from django.db import models


class SignInFailure(models.Model):
    """One failed try; names and addresses are kept as digests only."""

    name_digest = models.CharField(max_length=64, blank=True)
    address_digest = models.CharField(max_length=64)
    at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["address_digest", "at"], name="sign_in_failure_address"),
            models.Index(fields=["name_digest", "at"], name="sign_in_failure_name"),
        ]

    def __str__(self) -> str:
        return f"failure at {self.at}"
