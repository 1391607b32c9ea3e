"""Books and a requester's own documents: what they were read from, who needs them as they are.

Their texts are in their articles' sections and paragraphs, as those of all articles.
"""

from django.db import models
from django.db.models import F, Q, QuerySet

from collector.models.collection import Collection, CollectionState, SeedParagraph
from collector.models.corpus import Article, Corpus
from common.long_work import LongWork


class BookKind(models.TextChoices):
    """What a book is."""

    BOOK = "book", "Book"
    SCREENPLAY = "screenplay", "Screenplay"


class Book(models.Model):
    """The story that a file holds, word for word; all offsets are code points into `text`.

    The article has the title, and a summary as its one paragraph where there is one. The file's
    text is `front` + `text` + `back`: licence, credits and blanks are kept there as provenance, and
    no passage holds them. `document` names the book in tables about it; `set` is the part of the
    published dataset that it belongs to (train, valid, test), blank elsewhere. Passages of
    `passage_tokens` tokens are made by `tokenizer`. `table_rows` has by the name of a table the row
    that the book was given with; what a row of documents.csv leaves blank is counted.
    """

    corpus = models.ForeignKey(Corpus, models.CASCADE, db_index=False, related_name="books")
    article = models.OneToOneField(Article, models.CASCADE, related_name="book")
    document = models.CharField(max_length=64)
    kind = models.CharField(max_length=20, choices=BookKind.choices, default=BookKind.BOOK)
    author = models.CharField(max_length=300, blank=True)
    set = models.CharField(max_length=20, blank=True)
    url = models.CharField(max_length=500, blank=True)
    file_name = models.CharField(max_length=255)
    file_sha256 = models.CharField(max_length=64)
    encoding = models.CharField(max_length=40)
    front = models.TextField(blank=True)
    text = models.TextField()
    back = models.TextField(blank=True)
    n_tokens = models.PositiveIntegerField()
    passage_tokens = models.PositiveIntegerField()
    tokenizer = models.CharField(max_length=60)
    table_rows = models.JSONField(default=dict)

    class Meta:
        ordering = ["document"]
        constraints = [
            models.UniqueConstraint(fields=["corpus", "document"], name="book_document_once"),
            models.CheckConstraint(
                condition=Q(kind__in=BookKind.values), name="book_kind_is_known"
            ),
            models.CheckConstraint(
                condition=~Q(text="") & Q(passage_tokens__gt=0), name="book_has_passages"
            ),
        ]

    def __str__(self) -> str:
        return self.document


class Chapter(models.Model):
    """From one heading to the next; what stands before the first one is in no chapter."""

    book = models.ForeignKey(Book, models.CASCADE, db_index=False, related_name="chapters")
    position = models.PositiveIntegerField()
    heading = models.CharField(max_length=300)
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()

    class Meta:
        ordering = ["book_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["book", "position"], name="chapter_position_once"),
            models.CheckConstraint(condition=Q(start__lt=F("end")), name="chapter_has_text"),
        ]

    def __str__(self) -> str:
        return self.heading


class Passage(models.Model):
    """The next `n_tokens` tokens of a book; passages neither overlap nor leave a token out."""

    book = models.ForeignKey(Book, models.CASCADE, db_index=False, related_name="passages")
    position = models.PositiveIntegerField()
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    n_tokens = models.PositiveIntegerField()

    class Meta:
        ordering = ["book_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["book", "position"], name="passage_position_once"),
            models.CheckConstraint(condition=Q(start__lt=F("end")), name="passage_has_text"),
        ]

    def __str__(self) -> str:
        return f"{self.book_id}/{self.position}"


class BookQuestion(models.Model):
    """A published question about a book, with its answers in the published order."""

    book = models.ForeignKey(Book, models.CASCADE, db_index=False, related_name="questions")
    position = models.PositiveIntegerField()
    text = models.TextField()
    answers = models.JSONField()

    class Meta:
        ordering = ["book_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["book", "position"], name="book_question_once"),
        ]

    def __str__(self) -> str:
        return self.text


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


def curators_of(corpus: Corpus) -> QuerySet[Collection]:
    """Return the collections that draw seeds from candidate sets, which name the corpus's pages."""
    return corpus.collections.filter(candidate_sets__isnull=False).distinct().order_by("slug")


def users_of_documents(corpus: Corpus, articles: QuerySet[Article]) -> QuerySet[Collection]:
    """Return the collections that need documents: published ones, and drafts that show one."""
    shown = SeedParagraph.objects.filter(paragraph__article__in=articles).values("seed__collection")
    needed = ~Q(state=CollectionState.DRAFT) | Q(pk__in=shown) | Q(candidate_sets__isnull=False)
    return corpus.collections.filter(needed).distinct().order_by("slug")


def named(users: QuerySet[Collection]) -> str:
    """Return the collections' titles in one sentence's words."""
    return ", ".join(f"“{each.title or each.slug}”" for each in users)
