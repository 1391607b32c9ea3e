"""The one order of all that happened: who took a unit, who handed work in, and after whom."""

from django.db import models

from tasks.models.lease import Lease


class StepKind(models.TextChoices):
    """What happened to a lease."""

    TAKEN = "taken", "Taken"
    HANDED_IN = "handed in", "Handed in"


class Step(models.Model):
    """Its key is its place among all steps.

    Clocks cannot tell this order: a request has the time at which it came, and another may be
    done before it. A step is written when what it tells of has been stored, in the same
    transaction. So whoever had to wait for another's rows (an equal question, the last place of a
    unit) comes after them.
    """

    lease = models.ForeignKey(Lease, models.CASCADE, related_name="steps")
    kind = models.CharField(max_length=10, choices=StepKind.choices)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["lease", "kind"], name="step_once")]

    def __str__(self) -> str:
        return f"{self.lease}: {self.get_kind_display()}"
