"""What a provider knows of our work: a HIT on a marketplace."""

from django.db import models
from django.db.models import Q

from tasks.models.people import Worker


class PostingState(models.TextChoices):
    """A HIT's life as we know it; the intention is a row before the provider is called."""

    PUBLISHING = "publishing", "Being published"
    LIVE = "live", "Open to workers"
    SUBMITTED = "submitted", "Submitted"
    SETTLED = "settled", "Paid"
    EXPIRED = "expired", "Expired"
    SUBMITTED_EMPTY = "unmatched", "Submitted empty"
    REJECTED = "rejected", "Rejected"


class Posting(models.Model):
    """One place of a stage, or a compensation HIT that only `worker` can take.

    `reserved_cents` is what the collection's budget holds for it until it is earned or expires.
    `ask_bonuses_at` is when the marketplace is next asked what bonuses were paid on it.
    """

    stage = models.ForeignKey("collector.Stage", models.CASCADE, related_name="postings")
    provider = models.CharField(max_length=40)
    environment = models.CharField(max_length=200)
    token = models.UUIDField(unique=True)
    external_id = models.CharField(max_length=64, blank=True)
    external_type = models.CharField(max_length=64, blank=True)
    state = models.CharField(
        max_length=20, choices=PostingState.choices, default=PostingState.PUBLISHING
    )
    reward_cents = models.PositiveIntegerField()
    reserved_cents = models.PositiveIntegerField(default=0)
    worker = models.ForeignKey(
        Worker, models.PROTECT, null=True, blank=True, related_name="compensations"
    )
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    ask_bonuses_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["stage", "state"], name="posting_by_state")]
        constraints = [
            models.UniqueConstraint(
                fields=["provider", "environment", "external_id"],
                condition=~Q(external_id=""),
                name="posting_external_id_once",
            )
        ]

    def __str__(self) -> str:
        return f"HIT for {self.stage}"


class Session(models.Model):
    """One person's stay on one posting; the provider's session ids are reused, people are not."""

    provider = models.CharField(max_length=40)
    environment = models.CharField(max_length=200)
    person = models.CharField(max_length=200)
    session_id = models.CharField(max_length=200)
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="sessions")
    posting = models.ForeignKey(Posting, models.PROTECT, related_name="sessions")
    submit_url = models.URLField(max_length=500)
    signed_until = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["provider", "environment", "person", "session_id", "posting"],
                name="session_once",
            )
        ]

    def __str__(self) -> str:
        return f"A stay on {self.posting}"
