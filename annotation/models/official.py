"""Published files that a collection was read from, with what has no row of its own."""

from django.db import models


class OfficialFile(models.Model):
    """One file of a published dataset; `split` is blank for one that holds no questions."""

    collection = models.ForeignKey(
        "collector.Collection", models.CASCADE, related_name="official_files"
    )
    name = models.CharField(max_length=255)
    split = models.CharField(max_length=40, blank=True)
    sha256 = models.CharField(max_length=64)
    size_bytes = models.BigIntegerField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "name"], name="official_file_name_once")
        ]

    def __str__(self) -> str:
        return self.name


class OfficialArticle(models.Model):
    """A linked article as the published file has it: its key and its text, kept verbatim."""

    collection = models.ForeignKey(
        "collector.Collection", models.CASCADE, related_name="official_articles"
    )
    position = models.PositiveIntegerField()
    title = models.TextField()
    content = models.TextField()

    class Meta:
        ordering = ["collection_id", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "position"], name="official_article_position_once"
            )
        ]

    def __str__(self) -> str:
        return self.title
