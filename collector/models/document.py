"""A document of a requester's own: which file it was, under which id, and what may be done with it.

Its text is in its article's sections and paragraphs, as that of all articles.
"""

from django.db import models
from django.db.models import Q

from collector.models.article import Article
from collector.models.corpus import Corpus
from common.long_work import LongWork


class Document(models.Model):
    """Where an article of a corpus of documents comes from.

    `format` is the name of one of the formats that the catalogue of `ingest.documents` has.
    `external_id` is the requester's own name of it: the `id` of its row, or the path of its file
    inside the folder or archive that was given. `sha256` is that of its file or row, so that a
    later run knows whether it has changed. `n_pages` is null where the format has no pages.
    `n_characters` are stored, and `left_out` were not, by the rule that left them out; blanks are
    in neither. The first is null where a document was read before they were counted.
    """

    corpus = models.ForeignKey(Corpus, models.CASCADE, db_index=False, related_name="documents")
    article = models.OneToOneField(Article, models.CASCADE, related_name="document")
    external_id = models.CharField(max_length=255)
    format = models.CharField(max_length=10)
    file_name = models.CharField(max_length=500)
    sha256 = models.CharField(max_length=64)
    url = models.CharField(max_length=500, blank=True)
    licence = models.CharField(max_length=200, blank=True)
    n_pages = models.PositiveIntegerField(null=True, blank=True)
    n_characters = models.PositiveIntegerField(null=True, blank=True)
    left_out = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["external_id"]
        constraints = [
            models.UniqueConstraint(fields=["corpus", "external_id"], name="document_id_once"),
        ]

    def __str__(self) -> str:
        return self.external_id


class DocumentUpload(LongWork):
    """Files that a requester has sent, to be read into a corpus by a job, and what came of it.

    The files lie in `folder`, named as in collector.kept_folders, until they are read; `n_files`
    is null until all are there. `corpus` is null until it is made; what it is to be called is in
    `slug`, `name`, `language`, `licence`, `licence_url`. `outcome` has lists of ids and of
    sentences: added, changed, left_out, notes, and the number unchanged. `form_key` is of the form
    that sent them: the same is sent again only where nothing was imported.
    """

    slug = models.CharField(max_length=80)
    corpus = models.ForeignKey(Corpus, models.CASCADE, null=True, related_name="uploads")
    name = models.CharField(max_length=200, blank=True)
    language = models.CharField(max_length=35, blank=True)
    licence = models.CharField(max_length=100, blank=True)
    licence_url = models.CharField(max_length=500, blank=True)
    folder = models.CharField(max_length=300)
    n_files = models.PositiveIntegerField(null=True)
    outcome = models.JSONField(default=dict, blank=True)
    form_key = models.CharField(max_length=64, blank=True)

    class Meta(LongWork.Meta):
        constraints = [
            *LongWork.Meta.constraints,
            models.UniqueConstraint(
                fields=["slug"],
                condition=Q(state__in=LongWork.GOING_ON),
                name="upload_one_at_a_time",
            ),
            models.UniqueConstraint(
                fields=["form_key"],
                condition=~Q(form_key="") & ~Q(state="failed"),
                name="upload_once_a_form",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.slug}: {self.get_state_display()}"
