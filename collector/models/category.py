"""A category of a wiki, which articles are in it, and which categories."""

from django.db import models

from collector.models.article import Article
from collector.models.corpus import Corpus


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
