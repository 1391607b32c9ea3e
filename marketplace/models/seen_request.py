"""Signed requests that changed something, so that nobody can send them once more."""

from django.db import models


class SeenRequest(models.Model):
    """The signature of a request; forgotten when it is too old to be believed anyway."""

    signature = models.CharField(max_length=64, unique=True)
    seen_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.signature
