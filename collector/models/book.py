"""A book of a corpus: its whole text, its chapters and passages, and what was asked about it."""

from django.db import models
from django.db.models import F, Q

from collector.models.article import Article
from collector.models.corpus import Corpus


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
