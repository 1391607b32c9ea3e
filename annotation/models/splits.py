"""In which split a kept question is, and the cross-validation that tells how hard it is."""

from datetime import datetime
from typing import Self

from django.db import models, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from common.long_work import LongWork, WorkState


class CrossValidation(LongWork):
    """One cross-validation over the questions that are not single-hop.

    What comes out follows from its examples, its number of folds and its seed. `reader` is the
    reader's name, or the file with an outside model's predictions; `checksum` is over every
    answer and loss. It waits for its folds; the work that is claimed is to sum them up.
    """

    collection = models.ForeignKey(
        "collector.Collection", models.CASCADE, related_name="cross_validations"
    )
    reader = models.CharField(max_length=200)
    seed = models.BigIntegerField()
    n_examples = models.PositiveIntegerField()
    n_folds = models.PositiveSmallIntegerField()
    n_right = models.PositiveIntegerField(default=0)
    checksum = models.CharField(max_length=64, blank=True)

    class Meta(LongWork.Meta):
        constraints = [
            *LongWork.Meta.constraints,
            models.UniqueConstraint(
                fields=["collection"],
                condition=Q(state__in=LongWork.GOING_ON),
                name="cross_validation_one_at_a_time",
            ),
        ]

    @classmethod
    def free(cls, now: datetime) -> QuerySet[Self]:
        """Return what finds the runs whose folds are done, or one of them is given up."""
        folds = Fold.objects.filter(run=OuterRef("pk"))
        going_on = Exists(folds.filter(state__in=cls.GOING_ON))
        return super().free(now).filter(~going_on | Exists(folds.filter(state=WorkState.FAILED)))

    @property
    def is_given_up(self) -> bool:
        """Return whether one of its folds is, or the summing up."""
        return super().is_given_up or self.folds.filter(state=WorkState.FAILED).exists()

    def try_again(self) -> bool:
        """Return whether it waits again, for the folds that were given up."""
        with transaction.atomic():
            return super().try_again() and all(
                fold.try_again() for fold in self.folds.filter(state=WorkState.FAILED)
            )


class Fold(LongWork):
    """One part of a run: its questions are answered by a reader trained on all the others."""

    run = models.ForeignKey(CrossValidation, models.CASCADE, related_name="folds")
    number = models.PositiveSmallIntegerField()
    n_examples = models.PositiveIntegerField()

    class Meta(LongWork.Meta):
        ordering = ["run_id", "number"]
        constraints = [
            *LongWork.Meta.constraints,
            models.UniqueConstraint(fields=["run", "number"], name="fold_number_once"),
        ]

    def __str__(self) -> str:
        return f"Fold {self.number + 1}: {self.get_state_display()}"

    @classmethod
    def free(cls, now: datetime) -> QuerySet[Self]:
        """Return what finds the folds that nobody living is at, of runs that wait for them.

        Without a join: an update over one would choose its rows by a query of its own, which
        PostgreSQL does not ask again after it waited for another's claim. Two would win.
        """
        return super().free(now).filter(run__in=_waiting())

    def mine(self) -> QuerySet[Self]:
        """Return what finds the row while it is under our claim and its run goes on."""
        return super().mine().filter(run__in=_waiting())


def _waiting() -> QuerySet[CrossValidation]:
    return CrossValidation.objects.filter(state=WorkState.WAITING)


class HeldOutPrediction(models.Model):
    """What a reader that had not seen the question answered; `loss` is None until it has."""

    run = models.ForeignKey(CrossValidation, models.CASCADE, related_name="predictions")
    fold = models.ForeignKey(Fold, models.CASCADE, related_name="predictions")
    question = models.ForeignKey(
        "tasks.Question", models.CASCADE, related_name="held_out_predictions"
    )
    answer = models.TextField(blank=True)
    loss = models.FloatField(null=True, blank=True)
    is_right = models.BooleanField(default=False)

    class Meta:
        ordering = ["run_id", "id"]
        constraints = [
            models.UniqueConstraint(fields=["run", "question"], name="held_out_prediction_once"),
            models.CheckConstraint(
                condition=Q(loss__isnull=True) | Q(loss__gte=0),
                name="held_out_prediction_loss_is_a_loss",
            ),
            models.CheckConstraint(
                condition=Q(is_right=False) | Q(loss__isnull=False),
                name="held_out_prediction_right_was_answered",
            ),
        ]

    def __str__(self) -> str:
        return self.answer


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


class SplitAssignment(models.Model):
    """One per kept question: exactly one split."""

    question = models.OneToOneField(
        "tasks.Question", models.CASCADE, related_name="split_assignment"
    )
    split = models.CharField(max_length=40)
    reason = models.CharField(max_length=300)
    placed_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["split"], name="split_assignment_by_split")]

    def __str__(self) -> str:
        return self.split
