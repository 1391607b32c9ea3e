"""Finds the graph of a corpus: its row names the file, which is built where it is missing."""

import hashlib
import time
from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.db.models import Max, OuterRef, Subquery, TextField
from django.db.models.functions import Cast
from django.utils import timezone

from collector.array_files import exclusive_folder, put_in_place
from collector.code_points import CodePoints
from collector.graph.graph_builder import Progress, build
from collector.graph.graph_file import VERSION, Graph, GraphError
from collector.models import LinkGraph
from collector.models.corpus import (
    Article,
    ArticleKind,
    Corpus,
    CorpusState,
    Paragraph,
    ParagraphKind,
)
from common.command_line import MANAGE
from common.safe_files import inside

PAGES_AT_ONCE = 5000
LEAD = 0


class Page(NamedTuple):
    """An article or a redirect; `paragraph` is None where no running text begins the page."""

    page_id: int
    article: int
    title: str
    redirect_target: str
    paragraph: int | None


def first_paragraphs(corpus: Corpus) -> Iterator[list[Page]]:
    """Yield the articles that begin with running text, in batches, in the order of page ids.

    The first paragraph is the first of the lead that is no list item. Page ids come from the
    dump, so that the order is the same in every database.
    """
    for batch in pages(corpus):
        yield [page for page in batch if page.paragraph is not None]


def pages(corpus: Corpus) -> Iterator[list[Page]]:
    """Yield all articles and redirects in batches, in the order of page ids."""
    lead = Paragraph.objects.filter(
        article=OuterRef("pk"), kind=ParagraphKind.PARAGRAPH, section__position=LEAD
    ).order_by("position")
    rows = (
        Article.objects.filter(corpus=corpus)
        .exclude(kind=ArticleKind.DISAMBIGUATION)
        .annotate(first=Subquery(lead.values("pk")[:1]))
        .order_by("page_id")
        .values_list("page_id", "pk", "title", "redirect_target", "first")
    )
    last: int | None = None
    while True:
        onward = rows if last is None else rows.filter(page_id__gt=last)
        batch = [Page(*row) for row in onward[:PAGES_AT_ONCE]]
        if not batch:
            return
        yield batch
        last = batch[-1].page_id


def links_of(paragraphs: Sequence[int]) -> list[str]:
    """Return the links of each paragraph as JSON text, in the order of the ids given."""
    # As text: other processes decode it.
    rows = Paragraph.objects.filter(pk__in=paragraphs).annotate(packed=Cast("links", TextField()))
    found = dict(rows.values_list("pk", "packed"))
    return [found[pk] for pk in paragraphs]


# A larger corpus is built by the command, in a process of its own.
BUILT_ON_DEMAND = 50_000


def graph_of(corpus: Corpus) -> Graph:
    """Return the graph of the corpus as it is now; of a small corpus, it is built when missing.

    Raises GraphError saying which command to run for a large one.
    """
    row = current_row(corpus)
    if row is None or not path_of(row).exists():
        if corpus.articles.count() > BUILT_ON_DEMAND:
            raise GraphError(
                f"The hyperlink graph of {corpus.slug} has not been built on this machine: run "
                f"{MANAGE} build_graph {corpus.slug}, then try again."
            )
        row, _ = build_graph(corpus)
    return _opened(path_of(row))


def path_of(row: LinkGraph) -> Path:
    """Return where the file is, or would be, on this machine."""
    return inside(_folder(), row.file_name)


def current_row(corpus: Corpus) -> LinkGraph | None:
    """Return the row of the graph, unless the corpus or the layout has changed since."""
    row = LinkGraph.objects.filter(corpus=corpus).first()
    fresh = row and (row.layout, row.corpus_version) == (VERSION, corpus_version(corpus))
    return row if fresh else None


def corpus_version(corpus: Corpus) -> str:
    """Return what names the state of a corpus: its files, how far each is read, the last page."""
    files = corpus.dump_files.order_by(CodePoints("name")).values_list(
        "name", "size_bytes", "head_sha256", "pages_done"
    )
    last = corpus.articles.aggregate(last=Max("page_id"))["last"]
    return hashlib.sha256(repr((corpus.slug, list(files), last)).encode()).hexdigest()


def build_graph(
    corpus: Corpus, *, processes: int = 1, progress: Progress = lambda what, share: None
) -> tuple[LinkGraph, bool]:
    """Build the graph unless it is there, whole and of this corpus; return its row and whether.

    A killed process leaves nothing that is read: the file is written aside and renamed.
    Raises GraphError for a corpus that is not read to its end.
    """
    if corpus.state != CorpusState.READY:
        raise GraphError(
            f"The corpus {corpus.slug} is not ready: run its ingest_dump again to the end first."
        )
    with exclusive_folder(inside(_folder(), f"{corpus.slug}.building")) as folder:
        row = current_row(corpus)
        if row and path_of(row).exists() and _sha256(path_of(row)) == row.sha256:
            return row, False
        started = time.monotonic()
        version = corpus_version(corpus)
        try:
            path = build(folder, pages(corpus), links_of, processes=processes, progress=progress)
        except BrokenProcessPool:
            raise GraphError(
                "A process that reads links ended, perhaps for lack of memory; run the same "
                "command with fewer --processes."
            ) from None
        graph = Graph(path)
        row = LinkGraph(
            corpus=corpus,
            layout=VERSION,
            corpus_version=version,
            sha256=_sha256(path),
            size_bytes=path.stat().st_size,
            n_nodes=graph.n_nodes,
            n_edges=graph.n_edges,
            seconds=round(time.monotonic() - started, 2),
            built_at=timezone.now(),
        )
        old = LinkGraph.objects.filter(corpus=corpus).first()
        put_in_place(path, path_of(row))
        fields = {field.name: getattr(row, field.name) for field in row._meta.concrete_fields[2:]}
        row, _ = LinkGraph.objects.update_or_create(corpus=corpus, defaults=fields)
        if old and path_of(old) != path_of(row):
            path_of(old).unlink(missing_ok=True)
        return row, True


def _folder() -> Path:
    return Path(settings.HOME) / "graphs"


@lru_cache(maxsize=8)
def _opened(path: Path) -> Graph:
    return Graph(path)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
