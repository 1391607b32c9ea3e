"""Workers' sign-ins, in the island's own table and under its own cookie."""

from django.db import models

from marketplace.models.worker import Worker


class Session(models.Model):
    """One signed-in browser; only the digest of its cookie is kept."""

    worker = models.ForeignKey(Worker, models.CASCADE, related_name="sessions")
    token_digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    # One sentence for the next page, shown once ("You returned the HIT.").
    notice = models.CharField(max_length=300, blank=True)

    def __str__(self) -> str:
        return f"session of {self.worker_id}"
