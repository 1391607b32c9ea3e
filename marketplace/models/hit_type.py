"""What HITs of one kind have in common; the same values are the same type."""

import hashlib
import json
from typing import Any

from django.db import models
from django.db.models import Q

from marketplace.hits.keywords import Stated, stated_in
from marketplace.identifiers import new_entity_id
from marketplace.models.requester import Requester


def fingerprint_of(values: dict[str, Any]) -> str:
    """Return a digest that is equal exactly when all the values of two HIT types are equal."""
    canonical = json.dumps(values, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


class HITType(models.Model):
    """Title, reward, time allotted and who may take it."""

    hit_type_id = models.CharField(max_length=64, unique=True, default=new_entity_id)
    hit_group_id = models.CharField(max_length=64, unique=True, default=new_entity_id)
    requester = models.ForeignKey(Requester, models.CASCADE, related_name="hit_types")
    fingerprint = models.CharField(max_length=64)
    title = models.CharField(max_length=128)
    description = models.CharField(max_length=2000)
    keywords = models.CharField(max_length=1000, blank=True)
    reward_cents = models.BigIntegerField()
    assignment_duration_seconds = models.BigIntegerField()
    auto_approval_delay_seconds = models.BigIntegerField()
    # As the requester sent them: a list of QualificationRequirement.
    requirements = models.JSONField(default=list)
    # As the requester sent it: a NotificationSpecification; None = no events are told.
    notification = models.JSONField(null=True)
    is_notifying = models.BooleanField(default=False)
    # What the keywords state, for the database to know which HITs a worker cannot take as well.
    is_once = models.BooleanField(default=False)
    is_one_at_a_time = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    # Worker's key and seconds from accept to submit of people's latest submissions (timing.py).
    recent_work = models.JSONField(default=list)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "fingerprint"], name="one_hit_type_per_value"
            ),
            models.CheckConstraint(condition=Q(reward_cents__gte=0), name="reward_not_negative"),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def stated(self) -> Stated:
        """Return what its requester states of pay and time beyond the wire's members."""
        return stated_in(self.keywords)
