"""A rule by which a HIT's work is decided as it comes in, and what it found and did."""

from django.db import models

from marketplace.models.hit import HIT


class Level(models.TextChoices):
    """What a policy looks at: each assignment when it comes in, or the HIT when all are in."""

    ASSIGNMENT = "Assignment", "known answers"
    HIT = "HIT", "agreement"


class ReviewPolicy(models.Model):
    """Set when its HIT is made and never changed; its report is written under the HIT's lock."""

    hit = models.ForeignKey(HIT, models.CASCADE, related_name="review_policies")
    level = models.CharField(max_length=10, choices=Level)
    # By the names of the service's parameters, read and checked.
    parameters = models.JSONField()
    # As the API tells them: members of ReviewResultDetail and ReviewActionDetail.
    results = models.JSONField(default=list)
    actions = models.JSONField(default=list)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["hit", "level"], name="one_review_policy_per_level"),
            models.CheckConstraint(
                condition=models.Q(level__in=Level.values), name="review_level_is_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.level} of {self.hit_id}"
