"""Who may do a stage's HITs: decided by a person who has read what the worker made."""

from django.db import models

from tasks.models.worker import Worker


class GrantState(models.TextChoices):
    """Where a worker stands with one qualification."""

    SUBMITTED = "submitted", "Waiting for inspection"
    GRANTED = "granted", "Granted"
    DECLINED = "declined", "Declined"


class Qualification(models.Model):
    """One per qualifying stage; `external_id` is the provider's name for it once it exists."""

    stage = models.OneToOneField("collector.Stage", models.CASCADE, related_name="qualification")
    external_id = models.CharField(max_length=64, blank=True)

    def __str__(self) -> str:
        return f"Qualification: {self.stage}"


class Grant(models.Model):
    """A worker's standing; `told_state` is what the provider was last told of it."""

    qualification = models.ForeignKey(Qualification, models.CASCADE, related_name="grants")
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="grants")
    state = models.CharField(
        max_length=20, choices=GrantState.choices, default=GrantState.SUBMITTED
    )
    told_state = models.CharField(max_length=20, blank=True)
    note = models.TextField(blank=True)
    decided_by = models.CharField(max_length=150, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField()

    class Meta:
        ordering = ["submitted_at"]
        constraints = [
            models.UniqueConstraint(fields=["qualification", "worker"], name="grant_once")
        ]

    def __str__(self) -> str:
        return self.get_state_display()
