"""Candidate sets: pages that a collection's pairs are drawn from, once a person has kept them."""

from django.db import models
from django.db.models import Q

from collector.models.article import Article
from collector.models.collection import Collection


class SetRole(models.TextChoices):
    """What is drawn: links that lead to a page of the set, or two pages of it."""

    BRIDGE = "bridge", "Bridge entities"
    COMPARISON = "comparison", "Comparison list"


class SetState(models.TextChoices):
    """Whether pairs are drawn from a set; only from a kept one."""

    PROPOSED = "proposed", "Proposed"
    KEPT = "kept", "Kept"
    DROPPED = "dropped", "Dropped"


class CandidateSet(models.Model):
    """Pages of one theme, from a file, a category or a list page; `source` says which.

    `decided_by` is who kept or dropped it, blank while it is proposed. `n_missing` titles of the
    source lead to no page that has a first paragraph.
    """

    collection = models.ForeignKey(Collection, models.CASCADE, related_name="candidate_sets")
    role = models.CharField(max_length=20, choices=SetRole.choices)
    name = models.CharField(max_length=200)
    source = models.CharField(max_length=300)
    state = models.CharField(max_length=20, choices=SetState.choices, default=SetState.PROPOSED)
    decided_by = models.CharField(max_length=150, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    n_missing = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["role", "name"]
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "role", "name"], name="candidate_set_name_once"
            ),
            models.CheckConstraint(
                condition=Q(role__in=SetRole.values), name="candidate_set_role_is_known"
            ),
            models.CheckConstraint(
                condition=Q(state="proposed", decided_by="", decided_at=None)
                | Q(state__in=("kept", "dropped"), decided_at__isnull=False) & ~Q(decided_by=""),
                name="candidate_set_is_decided_by_someone",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class CandidateMember(models.Model):
    """A page is in a set."""

    candidate_set = models.ForeignKey(
        CandidateSet, models.CASCADE, db_index=False, related_name="members"
    )
    article = models.ForeignKey(Article, models.PROTECT, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["candidate_set", "article"], name="candidate_member_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.article_id} in {self.candidate_set_id}"


class PairTrial(models.Model):
    """A requester tried a pair of a set: whether a question that needs both can be asked."""

    candidate_set = models.ForeignKey(
        CandidateSet, models.CASCADE, db_index=False, related_name="trials"
    )
    first = models.ForeignKey(Article, models.PROTECT, related_name="+")
    second = models.ForeignKey(Article, models.PROTECT, related_name="+")
    works = models.BooleanField()
    by = models.CharField(max_length=150)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["candidate_set", "first", "second"], name="pair_tried_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.first_id} → {self.second_id}: {self.works}"
