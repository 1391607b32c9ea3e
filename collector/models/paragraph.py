"""A paragraph of an article, with its links and sentence boundaries packed on the row."""

from django.db import models

from collector.models.article import Article, Section


class ParagraphKind(models.TextChoices):
    """Running prose, or what is shown but never starts a question."""

    PARAGRAPH = "paragraph", "Paragraph"
    LIST_ITEM = "list_item", "List item"


class Paragraph(models.Model):
    """Plain text; all offsets are half-open code points into `text`.

    `links` is [[start, end, target title], …] in order, `n_links` the number of distinct targets,
    `n_links_in_corpus` the number of distinct articles of this corpus that they lead to, through
    redirects, the paragraph's own article and disambiguation pages not counted. `sentences` is
    [[start, end], …] once a seed uses the paragraph, made by `splitter`.
    """

    article = models.ForeignKey(Article, models.CASCADE, db_index=False, related_name="paragraphs")
    section = models.ForeignKey(Section, models.CASCADE, related_name="paragraphs")
    position = models.PositiveIntegerField()
    kind = models.CharField(
        max_length=20, choices=ParagraphKind.choices, default=ParagraphKind.PARAGRAPH
    )
    text = models.TextField()
    links = models.JSONField(default=list)
    n_links = models.PositiveIntegerField(default=0)
    n_links_in_corpus = models.PositiveIntegerField(default=0)
    sentences = models.JSONField(null=True, blank=True)
    splitter = models.CharField(max_length=60, blank=True)

    class Meta:
        ordering = ["article_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["article", "position"], name="paragraph_position_once"),
            models.CheckConstraint(
                condition=models.Q(kind__in=ParagraphKind.values), name="paragraph_kind_is_known"
            ),
        ]
        indexes = [
            models.Index(fields=["n_links", "n_links_in_corpus"], name="paragraph_by_links"),
        ]

    def __str__(self) -> str:
        return self.text[:80]
