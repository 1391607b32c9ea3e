"""A page of a dump that was not stored, and why."""

from django.db import models

from collector.models.dump_file import DumpFile


class SkippedPage(models.Model):
    """`title` is the page's title, or what could be read of it."""

    dump_file = models.ForeignKey(DumpFile, models.CASCADE, related_name="skipped_pages")
    title = models.CharField(max_length=300)
    reason = models.CharField(max_length=200)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.title}: {self.reason}"
