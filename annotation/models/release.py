"""One frozen, checksummed export of a collection."""

from django.db import models


class Release(models.Model):
    """`manifest` maps each file's name to its SHA-256 and size; an issued one never changes."""

    collection = models.ForeignKey("collector.Collection", models.PROTECT, related_name="releases")
    number = models.PositiveIntegerField()
    folder = models.CharField(max_length=500)
    manifest = models.JSONField(default=dict)
    counts = models.JSONField(default=dict)
    supersedes = models.ForeignKey(
        "self", models.PROTECT, null=True, blank=True, related_name="successors"
    )
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["collection_id", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "number"], name="release_number_once")
        ]

    def __str__(self) -> str:
        return f"{self.collection} release {self.number}"
