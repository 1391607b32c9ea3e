"""Models for verdicts on questions, by votes or by hand, and for excluded workers."""

from django.db import models
from django.db.models import Q

OUTCOMES = [
    ("kept", "In the dataset"),
    ("dropped", "Excluded"),
    ("waiting", "Waiting for answers"),
]


class Verdict(models.Model):
    """The verdict on one question; it never changes a payment.

    `reason` is the protocol's code, `sentence` the reason in words for a requester. `agreeing`
    lists the ids of the answers that agree with the chosen one. `n_votes` is the number of votes,
    `last_vote` their highest id, 0 without votes. If either changes, the votes have changed.
    """

    question = models.OneToOneField("tasks.Question", models.CASCADE, related_name="verdict")
    outcome = models.CharField(max_length=20, choices=OUTCOMES)
    reason = models.CharField(max_length=80)
    sentence = models.CharField(max_length=500)
    chosen = models.ForeignKey(
        "tasks.Answer", models.PROTECT, null=True, blank=True, related_name="+"
    )
    agreeing = models.JSONField(default=list)
    n_votes = models.PositiveSmallIntegerField()
    # Older verdicts have no `last_vote`: for them only the number of votes is compared.
    last_vote = models.PositiveBigIntegerField(null=True)
    overridden = models.BooleanField(default=False)
    decided_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["outcome"], name="verdict_by_outcome")]
        constraints = [
            models.CheckConstraint(
                condition=~Q(outcome="kept") | Q(chosen__isnull=False),
                name="verdict_kept_has_an_answer",
            )
        ]

    def __str__(self) -> str:
        return self.get_outcome_display()


class Override(models.Model):
    """A requester's decision against the verdict, with who, when and why.

    With `follows_votes` the votes decide again; `new_outcome` is what they decided at that time.
    """

    verdict = models.ForeignKey(Verdict, models.CASCADE, related_name="overrides")
    old_outcome = models.CharField(max_length=20)
    new_outcome = models.CharField(max_length=20)
    old_chosen = models.ForeignKey(
        "tasks.Answer", models.PROTECT, null=True, blank=True, related_name="+"
    )
    new_chosen = models.ForeignKey(
        "tasks.Answer", models.PROTECT, null=True, blank=True, related_name="+"
    )
    follows_votes = models.BooleanField(default=False)
    note = models.TextField()
    by = models.CharField(max_length=150)
    at = models.DateTimeField()

    class Meta:
        ordering = ["at", "id"]

    def __str__(self) -> str:
        return f"{self.old_outcome} → {self.new_outcome}"


class Exclusion(models.Model):
    """From `at` until `back_at`, none of the worker's work is counted or released."""

    collection = models.ForeignKey(
        "collector.Collection", models.CASCADE, related_name="exclusions"
    )
    worker = models.ForeignKey("tasks.Worker", models.CASCADE, related_name="exclusions")
    why = models.TextField()
    by = models.CharField(max_length=150)
    at = models.DateTimeField()
    back_why = models.TextField(blank=True)
    back_by = models.CharField(max_length=150, blank=True)
    back_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "worker"],
                condition=Q(back_at__isnull=True),
                name="exclusion_once_at_a_time",
            )
        ]

    def __str__(self) -> str:
        return f"{self.worker_id} left out of {self.collection}"
