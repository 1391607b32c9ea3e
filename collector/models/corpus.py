"""A corpus: an immutable import of a wiki's dump, of books or of documents; files and graph."""

from django.db import models

from collector.models.name import NameField, slug_is_a_name


class CorpusKind(models.TextChoices):
    """Where a corpus comes from."""

    WIKI = "wiki", "Wiki dump"
    BOOKS = "books", "Books"
    DOCUMENTS = "documents", "Documents"
    IMPORTED = "imported", "Passages of published files"


class CorpusState(models.TextChoices):
    """Whether a corpus can be collected from; only a ready one can."""

    INGESTING = "ingesting", "Being read"
    READY = "ready", "Ready"
    FAILED = "failed", "Reading stopped"


class Direction(models.TextChoices):
    """The direction of the language's script, as the HTML attribute `dir` has it."""

    LEFT_TO_RIGHT = "ltr", "Left to right"
    RIGHT_TO_LEFT = "rtl", "Right to left"


class Corpus(models.Model):
    """What was read, in which language, from where, and under which licence.

    `base_url` is the address of the wiki's main page; `source` names the files read; `counts`
    holds the totals of all its dump files and of its rows.
    """

    slug = NameField("short name", max_length=80, unique=True)
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=20, choices=CorpusKind.choices, default=CorpusKind.WIKI)
    language = models.CharField(max_length=35)
    direction = models.CharField(
        max_length=3, choices=Direction.choices, default=Direction.LEFT_TO_RIGHT
    )
    site_name = models.CharField(max_length=200, blank=True)
    base_url = models.CharField(max_length=500, blank=True)
    licence_name = models.CharField(max_length=100, blank=True)
    licence_url = models.CharField(max_length=500, blank=True)
    source = models.TextField(blank=True)
    state = models.CharField(
        max_length=20, choices=CorpusState.choices, default=CorpusState.INGESTING
    )
    created_at = models.DateTimeField(auto_now_add=True)
    counts = models.JSONField(default=dict, blank=True)

    class Meta:
        verbose_name_plural = "corpora"
        constraints = [
            slug_is_a_name("corpus"),
            models.CheckConstraint(
                condition=models.Q(state__in=CorpusState.values), name="corpus_state_is_known"
            ),
            models.CheckConstraint(
                condition=models.Q(direction__in=Direction.values), name="corpus_direction_is_known"
            ),
        ]

    def __str__(self) -> str:
        return self.name


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


class SkippedPage(models.Model):
    """`title` is the page's title, or what could be read of it."""

    dump_file = models.ForeignKey(DumpFile, models.CASCADE, related_name="skipped_pages")
    title = models.CharField(max_length=300)
    reason = models.CharField(max_length=200)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.title}: {self.reason}"


class LinkGraph(models.Model):
    """Which file holds the graph, of which state of the corpus, and what it counts.

    `layout` is the version of the file's layout, `corpus_version` names what was read;
    `seconds` is how long the building took.
    """

    corpus = models.OneToOneField(Corpus, models.CASCADE, related_name="link_graph")
    layout = models.PositiveIntegerField()
    corpus_version = models.CharField(max_length=64)
    sha256 = models.CharField(max_length=64)
    size_bytes = models.BigIntegerField()
    n_nodes = models.BigIntegerField()
    n_edges = models.BigIntegerField()
    seconds = models.FloatField()
    built_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.file_name

    @property
    def file_name(self) -> str:
        """Return the file's name: it changes with what the file holds."""
        return f"{self.corpus.slug}-{self.sha256[:16]}.graph"
