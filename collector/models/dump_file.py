"""A dump file: how far it has been read, and what was found in it."""

from django.db import models

from collector.models.corpus import Corpus


class DumpFileState(models.TextChoices):
    """Where the reading of a file stands."""

    READING = "reading", "Being read"
    DONE = "done", "Read to its end"
    FAILED = "failed", "Stopped"


class DumpFile(models.Model):
    """`pages_done` pages of the file are in the database; reading resumes after them.

    The file is known by its name, its size and the SHA-256 of its first mebibyte, so that a
    different file of the same name is refused.
    """

    corpus = models.ForeignKey(Corpus, models.CASCADE, db_index=False, related_name="dump_files")
    name = models.CharField(max_length=255)
    size_bytes = models.BigIntegerField()
    head_sha256 = models.CharField(max_length=64)
    state = models.CharField(
        max_length=20, choices=DumpFileState.choices, default=DumpFileState.READING
    )
    error = models.TextField(blank=True)
    pages_done = models.BigIntegerField(default=0)
    counts = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["corpus", "name"], name="dump_file_name_once"),
            models.CheckConstraint(
                condition=models.Q(state__in=DumpFileState.values), name="dump_file_state_is_known"
            ),
        ]

    def __str__(self) -> str:
        return self.name
