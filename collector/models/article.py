"""An article of a corpus: its sections, its paragraphs, and its categories."""

from urllib.parse import quote, urlsplit

from django.db import models

from collector.models.corpus import Corpus, CorpusKind


class ArticleKind(models.TextChoices):
    """What a page is: text, a pointer to another page, or a list of meanings."""

    ARTICLE = "article", "Article"
    REDIRECT = "redirect", "Redirect"
    DISAMBIGUATION = "disambiguation", "Disambiguation page"


class Article(models.Model):
    """One page with its revision; its text is in its paragraphs.

    `redirect_target` is a normalised title, blank unless the page is a redirect; the target may
    itself be a redirect or be missing from the corpus. `infoboxes`: the names of its infobox
    templates, in lower case; empty too if the source is no wiki or was read before we kept them.
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

        Of a document, which has no revisions, it is the address.
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
    """Running prose, or what is shown but never starts a question."""

    PARAGRAPH = "paragraph", "Paragraph"
    LIST_ITEM = "list_item", "List item"


class Paragraph(models.Model):
    """Plain text; all offsets are half-open code points into `text`.

    `links` is [[start, end, target title], …] in order, `n_links` the number of distinct targets,
    `n_links_in_corpus` the number of distinct articles of this corpus that they lead to, through
    redirects, the paragraph's own article and disambiguation pages not counted. `sentences` is
    [[start, end], …] once a seed uses the paragraph, made by `splitter`. `pages` is
    [[start, number], …]: from `start` on the text stands on that page of its document, counted
    from 1; null where there are no pages.
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
    """A category is in another, as its own page says; none where a dump has no such pages."""

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
