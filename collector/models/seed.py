"""What a worker is shown to start from: a paragraph, a pair, a section."""

from django.db import models

from collector.models.collection import Collection, Stage


class Seed(models.Model):
    """Chosen once per collection, for the stage that shows it first.

    Its fold is planned here, because it decides the redundancy.
    """

    collection = models.ForeignKey(Collection, models.CASCADE, related_name="seeds")
    key = models.CharField(max_length=64)
    position = models.PositiveIntegerField()
    fold = models.CharField(max_length=20, blank=True)
    stage = models.ForeignKey(Stage, models.CASCADE, related_name="seeds")
    payload = models.JSONField(default=dict)

    class Meta:
        ordering = ["collection_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "key"], name="seed_chosen_once"),
            models.UniqueConstraint(fields=["collection", "position"], name="seed_position_once"),
        ]

    def __str__(self) -> str:
        return self.key


class DroppedSeed(models.Model):
    """A seed that a requester let go of before the first publication: it is not chosen again."""

    collection = models.ForeignKey(Collection, models.CASCADE, related_name="dropped_seeds")
    key = models.CharField(max_length=64)
    by = models.CharField(max_length=150)
    at = models.DateTimeField()

    class Meta:
        ordering = ["collection_id", "key"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "key"], name="seed_dropped_once")
        ]

    def __str__(self) -> str:
        return self.key


class SeedParagraph(models.Model):
    """One paragraph of a seed; a pair has two, a section has all of its own."""

    seed = models.ForeignKey(Seed, models.CASCADE, related_name="seed_paragraphs")
    paragraph = models.ForeignKey("collector.Paragraph", models.PROTECT, related_name="+")
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["seed_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["seed", "position"], name="seed_paragraph_once")
        ]

    def __str__(self) -> str:
        return f"{self.seed_id}/{self.position}"
