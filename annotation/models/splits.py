"""In which split a kept question is, and the cross-validation that tells how hard it is."""

from django.db import models
from django.db.models import Q


class RunState(models.TextChoices):
    """Where a run stands; whoever finishes its last fold sums it up."""

    TRAINING = "training", "Readers are being trained"
    SUMMING = "summing", "Being summed up"
    DONE = "done", "Done"
    FAILED = "failed", "Not done"


class CrossValidation(models.Model):
    """One cross-validation over the questions that are not single-hop.

    What comes out follows from its examples, its number of folds and its seed. `reader` is the
    reader's name, or the file with an outside model's predictions; `checksum` is over every
    answer and loss; `seen_at` is the last sign of whoever sums it up.
    """

    GOING_ON = (RunState.TRAINING, RunState.SUMMING)

    collection = models.ForeignKey(
        "collector.Collection", models.CASCADE, related_name="cross_validations"
    )
    reader = models.CharField(max_length=200)
    seed = models.BigIntegerField()
    n_examples = models.PositiveIntegerField()
    n_folds = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=20, choices=RunState.choices, default=RunState.TRAINING)
    n_right = models.PositiveIntegerField(default=0)
    checksum = models.CharField(max_length=64, blank=True)
    message = models.TextField(blank=True)
    by = models.CharField(max_length=150)
    began_at = models.DateTimeField()
    seen_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-began_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["collection"],
                condition=Q(state__in=["training", "summing"]),
                name="cross_validation_one_at_a_time",
            )
        ]

    def __str__(self) -> str:
        return self.get_state_display()


class FoldState(models.TextChoices):
    """A fold is claimed, and free again when whoever claimed it has died."""

    WAITING = "waiting", "Waiting"
    RUNNING = "running", "Running"
    DONE = "done", "Done"
    FAILED = "failed", "Failed"


class Fold(models.Model):
    """One part of a run: its questions are answered by a reader trained on all the others.

    `claim` is the secret of whoever has it; `seen_at` their last sign; `step` what they are at,
    `share_done` of it from 0 to 1.
    """

    run = models.ForeignKey(CrossValidation, models.CASCADE, related_name="folds")
    number = models.PositiveSmallIntegerField()
    n_examples = models.PositiveIntegerField()
    state = models.CharField(max_length=20, choices=FoldState.choices, default=FoldState.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    claim = models.CharField(max_length=32, blank=True)
    claimed_by = models.CharField(max_length=200, blank=True)
    claimed_at = models.DateTimeField(null=True, blank=True)
    seen_at = models.DateTimeField(null=True, blank=True)
    step = models.CharField(max_length=80, blank=True)
    share_done = models.FloatField(default=0)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["run_id", "number"]
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="fold_number_once")]

    def __str__(self) -> str:
        return f"Fold {self.number + 1}: {self.get_state_display()}"


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
