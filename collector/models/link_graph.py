"""The row that names the file of a corpus's hyperlink graph."""

from django.db import models

from collector.models.corpus import Corpus


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
