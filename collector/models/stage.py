"""A part of a collection that posts HITs of one kind."""

from django.db import models

from collector.models.collection import Collection


class StageState(models.TextChoices):
    """Whether a stage hands out work."""

    DRAFT = "draft", "Not published yet"
    OPEN = "open", "Open"
    PAUSED = "paused", "Paused"
    CLOSED = "closed", "Closed"


class Stage(models.Model):
    """`name` is the stage's table in the protocol's parameters, `kind` a module of tasks.kinds."""

    collection = models.ForeignKey(Collection, models.CASCADE, related_name="stages")
    name = models.CharField(max_length=80)
    kind = models.CharField(max_length=40)
    position = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=20, choices=StageState.choices, default=StageState.DRAFT)

    class Meta:
        ordering = ["collection_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "name"], name="stage_name_once"),
        ]

    def __str__(self) -> str:
        return self.name.replace("_", " ").capitalize()
