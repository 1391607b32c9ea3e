"""What bonuses are reckoned from: the accepted examples, in order, and the money held for them."""

from django.db import models

from tasks.models.submission import Submission
from tasks.models.worker import Worker


class Tally(models.Model):
    """The examples of an accepted submission, with how many the stage and the worker had before it.

    Written once, in the order of acceptance: a round or a block that is over stays as it was.
    """

    submission = models.OneToOneField(Submission, models.PROTECT, related_name="tally")
    stage = models.ForeignKey("collector.Stage", models.CASCADE, related_name="tallies")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="tallies")
    examples = models.PositiveIntegerField()
    seconds = models.PositiveIntegerField()
    before = models.PositiveIntegerField()
    own_before = models.PositiveIntegerField()

    class Meta:
        ordering = ["id"]
        verbose_name_plural = "tallies"
        indexes = [
            models.Index(fields=["stage", "before"], name="tally_of_a_round"),
            models.Index(fields=["stage", "worker", "own_before"], name="tally_of_a_block"),
        ]

    def __str__(self) -> str:
        return f"{self.worker_id}: {self.examples}"


class Fund(models.Model):
    """What a stage's budget holds for bonuses: `paid_cents` of `held_cents` are spent already.

    `examples` were accepted until now, in them `blocks` of single workers are over.
    """

    stage = models.OneToOneField("collector.Stage", models.CASCADE, related_name="fund")
    held_cents = models.PositiveIntegerField(default=0)
    paid_cents = models.PositiveIntegerField(default=0)
    examples = models.PositiveIntegerField(default=0)
    blocks = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(paid_cents__lte=models.F("held_cents")),
                name="fund_pays_what_it_holds",
            )
        ]

    def __str__(self) -> str:
        return f"{self.stage}: {self.paid_cents} of {self.held_cents}"
