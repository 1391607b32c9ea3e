"""Signed requests that changed something, so that the same bytes do not change it again."""

from django.db import models


class SeenRequest(models.Model):
    """A digest of one attempt; forgotten when its signature is too old to be believed anyway."""

    attempt = models.CharField(max_length=64, unique=True)
    seen_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.attempt
