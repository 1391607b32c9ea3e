"""Models of a corpus: its imported files, articles, paragraphs, categories and link graph."""

from urllib.parse import quote, urlsplit

from django.core.validators import RegexValidator
from django.db import models
from django.db.models import CheckConstraint, Q

# `\A` and `\Z` mean the same to Python and to PostgreSQL, `$` does not. "new" is excluded, because
# it is a page's address.
PATTERN = r"\A(?!new\Z)[A-Za-z0-9][A-Za-z0-9_-]{0,79}\Z"
RULE = (
    "A short name has up to 80 letters from A to Z, digits, hyphens and underscores, begins with "
    "a letter or a digit, and is not “new”"
)


is_name = RegexValidator(PATTERN, RULE)


class NameField(models.SlugField):
    """A short name that no other row of the model has."""

    default_validators = [is_name]


def slug_is_a_name(model: str) -> CheckConstraint:
    """Return the database's constraint on a model's `slug`."""
    return CheckConstraint(condition=Q(slug__regex=PATTERN), name=f"{model}_slug_is_a_name")


class CorpusKind(models.TextChoices):
    """Where a corpus comes from."""

    WIKI = "wiki", "Wiki dump"
    BOOKS = "books", "Books"
    DOCUMENTS = "documents", "Documents"
    IMPORTED = "imported", "Passages of published files"


class CorpusState(models.TextChoices):
    """The state of a corpus; collections can use only a ready one."""

    INGESTING = "ingesting", "Being read"
    READY = "ready", "Ready"
    FAILED = "failed", "Reading stopped"


class Direction(models.TextChoices):
    """The direction of the language's script, as the HTML attribute `dir` has it."""

    LEFT_TO_RIGHT = "ltr", "Left to right"
    RIGHT_TO_LEFT = "rtl", "Right to left"


class Corpus(models.Model):
    """A corpus: the texts that were read, with their language, source and licence.

    `base_url` is the address of the wiki's main page. `source` names the files that were read.
    `counts` has the totals of all its dump files and of its rows.
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
    """The state of reading a file."""

    READING = "reading", "Being read"
    DONE = "done", "Read to its end"
    FAILED = "failed", "Stopped"


class DumpFile(models.Model):
    """A dump file of a corpus; `pages_done` of its pages are in the database.

    Reading resumes after these pages. The file is identified by its name, its size and the SHA-256
    of its first mebibyte, so that a different file of the same name is refused.
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
    """A page that was not read, and why; `title` may be only what could be read of its title."""

    dump_file = models.ForeignKey(DumpFile, models.CASCADE, related_name="skipped_pages")
    title = models.CharField(max_length=300)
    reason = models.CharField(max_length=200)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.title}: {self.reason}"


class LinkGraph(models.Model):
    """The file of a corpus's link graph, with its versions and counts.

    `layout` is the version of the file's layout, `corpus_version` the version of the corpus that
    was read. `seconds` is the time that building took.
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
        """Return the file's name, which changes with the file's contents."""
        return f"{self.corpus.slug}-{self.sha256[:16]}.graph"


class ArticleKind(models.TextChoices):
    """What a page is: an article, a redirect to another page, or a disambiguation page."""

    ARTICLE = "article", "Article"
    REDIRECT = "redirect", "Redirect"
    DISAMBIGUATION = "disambiguation", "Disambiguation page"


class Article(models.Model):
    """One page with its revision; its text is in its paragraphs.

    `redirect_target` is a normalised title, blank unless the page is a redirect; the target may
    itself be a redirect or be missing from the corpus. `infoboxes`: the names of its infobox
    templates, in lower case. It is empty too if the source is not a wiki, or was read before names
    of infoboxes were stored.
    """

    corpus = models.ForeignKey(Corpus, models.CASCADE, db_index=False, related_name="articles")
    page_id = models.BigIntegerField()
    title = models.CharField(max_length=300)
    kind = models.CharField(max_length=20, choices=ArticleKind.choices, default=ArticleKind.ARTICLE)
    redirect_target = models.CharField(max_length=300, blank=True)
    revision_id = models.BigIntegerField()
    revision_timestamp = models.DateTimeField(null=True)
    is_list = models.BooleanField(default=False)
    infoboxes = models.JSONField(default=list, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["corpus", "title"], name="article_title_once"),
            models.UniqueConstraint(fields=["corpus", "page_id"], name="article_page_id_once"),
            models.CheckConstraint(
                condition=models.Q(kind__in=ArticleKind.values), name="article_kind_is_known"
            ),
            models.CheckConstraint(
                condition=models.Q(kind="redirect") ^ models.Q(redirect_target=""),
                name="article_redirect_has_a_target",
            ),
        ]

    def __str__(self) -> str:
        return self.title

    def url(self) -> str:
        """Return the page's address at its source site; blank if the corpus has none."""
        if self.corpus.kind == CorpusKind.DOCUMENTS:
            return self.document.url
        base = self.corpus.base_url
        if not base:
            return ""
        return base.rpartition("/")[0] + "/" + quote(self.title.replace(" ", "_"), safe="/:(),!*'")

    def revision_url(self) -> str:
        """Return the permanent address of the revision that was read; blank without a site.

        A document has no revisions, so that it is the document's address.
        """
        if self.corpus.kind == CorpusKind.DOCUMENTS:
            return self.document.url
        site = urlsplit(self.corpus.base_url)
        if not site.netloc:
            return ""
        return f"{site.scheme}://{site.netloc}/w/index.php?oldid={self.revision_id}"


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


class ParagraphKind(models.TextChoices):
    """Running prose, or a list item, which is shown but is never a seed."""

    PARAGRAPH = "paragraph", "Paragraph"
    LIST_ITEM = "list_item", "List item"


class Paragraph(models.Model):
    """Plain text; all offsets are half-open code points into `text`.

    `links` is [[start, end, target title], …] in order, `n_links` the number of distinct targets.
    `n_links_in_corpus` is the number of distinct articles of this corpus that the links lead to,
    also through redirects, without the paragraph's own article and disambiguation pages.
    `sentences` is [[start, end], …], made by `splitter` once a seed uses the paragraph. `pages` is
    [[start, number], …]: the text from `start` on is on that page of its document, counted from 1.
    It is null if there are no pages.
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
    pages = models.JSONField(null=True, blank=True)

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


class Category(models.Model):
    """A category's title, normalised, without the namespace."""

    corpus = models.ForeignKey(Corpus, models.CASCADE, db_index=False, related_name="categories")
    title = models.CharField(max_length=300)

    class Meta:
        verbose_name_plural = "categories"
        constraints = [
            models.UniqueConstraint(fields=["corpus", "title"], name="category_title_once"),
        ]

    def __str__(self) -> str:
        return self.title


class ArticleCategory(models.Model):
    """An article is in a category."""

    article = models.ForeignKey(
        Article, models.CASCADE, db_index=False, related_name="article_categories"
    )
    category = models.ForeignKey(Category, models.CASCADE, related_name="article_categories")

    class Meta:
        verbose_name_plural = "article categories"
        constraints = [
            models.UniqueConstraint(fields=["article", "category"], name="article_category_once"),
        ]

    def __str__(self) -> str:
        return f"{self.article_id} in {self.category_id}"


class Subcategory(models.Model):
    """A category is in another, as its own page says; no rows if the dump has no such pages."""

    parent = models.ForeignKey(
        Category, models.CASCADE, db_index=False, related_name="subcategories"
    )
    child = models.ForeignKey(Category, models.CASCADE, related_name="parents")

    class Meta:
        verbose_name_plural = "subcategories"
        constraints = [
            models.UniqueConstraint(fields=["parent", "child"], name="subcategory_once"),
        ]

    def __str__(self) -> str:
        return f"{self.child_id} in {self.parent_id}"
