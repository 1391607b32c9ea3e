"""What the host knows of a worker as a person; kept apart from what requesters see."""

from django.db import models

from marketplace.models.worker import Worker


class WorkerProfile(models.Model):
    """Identity, contact and history brought along; no API reply and no worker's page reads it."""

    worker = models.OneToOneField(Worker, models.CASCADE, related_name="profile")
    # Lower case; two people who share a mailbox cannot both be told apart by it.
    mail = models.CharField(max_length=254, unique=True, null=True, blank=True)
    mturk_id = models.CharField(max_length=64, unique=True, null=True, blank=True)
    prolific_id = models.CharField(max_length=64, unique=True, null=True, blank=True)
    notes = models.TextField(blank=True)
    # History on another marketplace; None = none was imported.
    n_approved_before = models.IntegerField(null=True)
    percent_approved_before = models.IntegerField(null=True)

    def __str__(self) -> str:
        return f"profile of {self.worker_id}"
