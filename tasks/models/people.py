"""The people who work: who they are, what they agreed to, and what they may do."""

import secrets

from django.db import models

# The provider of people who are known from old results alone; nobody can reach them.
ARCHIVE = "mturk-archive"


def new_worker_id() -> str:
    """Return a fresh internal id that says nothing about the person."""
    return "w" + secrets.token_hex(8)


class Worker(models.Model):
    """Who did the work, everywhere but in the identity table; preferences hold for all HITs.

    `synthetic` marks a simulated worker: everything it makes is marked in every release.
    `withdrawn_at` is since when nothing of theirs enters a release.
    """

    id = models.CharField(primary_key=True, max_length=17, default=new_worker_id)
    preferences = models.JSONField(default=dict)
    synthetic = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.id


class WorkerBlock(models.Model):
    """That nothing of a worker's counts in one collection, and that they are given no more work.

    What they hold they may finish.
    """

    collection = models.ForeignKey("collector.Collection", models.CASCADE, related_name="blocks")
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="blocks")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["collection", "worker"], name="worker_block_once")
        ]

    def __str__(self) -> str:
        return f"{self.worker_id} gets no more work of {self.collection_id}"


class Identity(models.Model):
    """Which person of which provider a worker is; no export, review page or log reads this."""

    worker = models.OneToOneField(Worker, models.CASCADE, related_name="identity")
    provider = models.CharField(max_length=40)
    environment = models.CharField(max_length=200)
    person = models.CharField(max_length=200)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["provider", "environment", "person"], name="identity_person_once"
            )
        ]

    def __str__(self) -> str:
        return "an identity"


class GivenName(models.Model):
    """What requesters call one of their own people, on their own pages alone; no release reads it.

    It goes when the person is forgotten.
    """

    worker = models.OneToOneField(Worker, models.CASCADE, related_name="given_name")
    name = models.CharField(max_length=80)

    def __str__(self) -> str:
        return self.name


class Consent(models.Model):
    """Shown before the first work of a person and version; the last answer counts."""

    worker = models.ForeignKey(Worker, models.CASCADE, related_name="consents")
    text = models.ForeignKey("collector.CollectionText", models.PROTECT, related_name="+")
    agreed = models.BooleanField()
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["worker", "text"], name="consent_answered_once")
        ]

    def __str__(self) -> str:
        return "agreed" if self.agreed else "declined"


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
    """Whether a worker has it; `told_state` is what the provider was last told of it.

    `is_let_in`: granted, or taken back again, whatever the test says; `submitted_at` is empty where
    none was handed in.
    """

    qualification = models.ForeignKey(Qualification, models.CASCADE, related_name="grants")
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="grants")
    state = models.CharField(
        max_length=20, choices=GrantState.choices, default=GrantState.SUBMITTED
    )
    told_state = models.CharField(max_length=20, blank=True)
    note = models.TextField(blank=True)
    decided_by = models.CharField(max_length=150, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    is_let_in = models.BooleanField(default=False)

    class Meta:
        ordering = ["submitted_at"]
        constraints = [
            models.UniqueConstraint(fields=["qualification", "worker"], name="grant_once"),
            models.CheckConstraint(
                condition=models.Q(is_let_in=True) | models.Q(submitted_at__isnull=False),
                name="grant_by_test_or_trust",
            ),
        ]

    def __str__(self) -> str:
        return self.get_state_display()


class StageQualificationTypes(models.Model):
    """The marketplace's qualification types by which it knows who can take a stage's HITs.

    `entry_id` is held by workers with one of the qualifications that will do, `closed_id` by those
    the stage has nothing for. Empty until they exist.
    """

    stage = models.OneToOneField(
        "collector.Stage", models.CASCADE, related_name="qualification_types"
    )
    entry_id = models.CharField(max_length=64, blank=True)
    closed_id = models.CharField(max_length=64, blank=True)

    def __str__(self) -> str:
        return f"Qualification types: {self.stage}"


class Eligibility(models.Model):
    """Whether a stage has nothing for a worker at present; without a row it has."""

    stage = models.ForeignKey("collector.Stage", models.CASCADE, related_name="eligibilities")
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="eligibilities")
    is_closed = models.BooleanField(default=True)
    told_closed = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stage", "worker"], name="eligibility_once")]
        indexes = [
            models.Index(
                fields=["stage"],
                condition=~models.Q(is_closed=models.F("told_closed")),
                name="eligibility_untold",
            )
        ]

    def __str__(self) -> str:
        return "Closed" if self.is_closed else "Open"
