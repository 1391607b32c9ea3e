"""A section of an article."""

from django.db import models

from collector.models.article import Article


class Section(models.Model):
    """One heading with the paragraphs up to the next; position 0 is the lead, without heading.

    `level` is the number of `=` signs of the heading, 0 for the lead.
    """

    article = models.ForeignKey(Article, models.CASCADE, db_index=False, related_name="sections")
    position = models.PositiveIntegerField()
    level = models.PositiveSmallIntegerField()
    heading = models.TextField(blank=True)

    class Meta:
        ordering = ["article_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["article", "position"], name="section_position_once"),
        ]

    def __str__(self) -> str:
        return self.heading or str(self.article)
