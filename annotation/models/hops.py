"""Whose questions one paragraph answers: the sample a person reads, and what is decided."""

from django.db import models


class Hops(models.TextChoices):
    """What a person says of one sampled question."""

    UNMARKED = "", "Not marked"
    SINGLE = "single", "Single-hop"
    MULTI = "multi", "Multi-hop"


class SampledQuestion(models.Model):
    """A question of a top contributor that a requester reads; drawn once, marked by anybody."""

    collection = models.ForeignKey(
        "collector.Collection", models.CASCADE, related_name="sampled_questions"
    )
    worker = models.ForeignKey("tasks.Worker", models.CASCADE, related_name="sampled_questions")
    question = models.OneToOneField("tasks.Question", models.CASCADE, related_name="sampled")
    position = models.PositiveSmallIntegerField()
    hops = models.CharField(max_length=20, choices=Hops.choices, default=Hops.UNMARKED, blank=True)
    marked_by = models.CharField(max_length=150, blank=True)
    marked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["collection_id", "worker_id", "position"]

    def __str__(self) -> str:
        return self.get_hops_display()


class HopDecision(models.Model):
    """Whether all of a worker's questions count as single-hop; None takes a decision back.

    The newest one holds, and none is ever changed.
    """

    collection = models.ForeignKey(
        "collector.Collection", models.CASCADE, related_name="hop_decisions"
    )
    worker = models.ForeignKey("tasks.Worker", models.CASCADE, related_name="hop_decisions")
    single_hop = models.BooleanField(null=True)
    by = models.CharField(max_length=150)
    at = models.DateTimeField()

    class Meta:
        ordering = ["collection_id", "id"]

    def __str__(self) -> str:
        return {True: "Single-hop", False: "Multi-hop", None: "Taken back"}[self.single_hop]
