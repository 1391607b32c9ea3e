"""Removes what was read by mistake: one document of a corpus, or all of it, with its files."""

import re
import shutil

from django.db import connection, transaction
from django.db.models import Q

from collector.graph.files import path_of
from collector.ingest.documents.ingestion import count_again
from collector.ingest.documents.uploads import UNDER_WAY
from collector.models import (
    Article,
    Collection,
    CollectionState,
    Corpus,
    DocumentUpload,
    LinkGraph,
    SeedParagraph,
)
from collector.models.corpus import CorpusKind
from collector.retrieval.files import folder_of
from common.actions import ActionError

# So many articles are deleted at a time.
BATCH = 200


def users_of_document(article: Article) -> list[Collection]:
    """Return the collections that need a document: published ones, and drafts that show it."""
    shown = SeedParagraph.objects.filter(paragraph__article=article).values("seed__collection")
    needed = ~Q(state=CollectionState.DRAFT) | Q(pk__in=shown) | Q(candidate_sets__isnull=False)
    return list(article.corpus.collections.filter(needed).distinct().order_by("slug"))


def remove_document(article: Article) -> None:
    """Delete a document with its text, and the indexes that have its words.

    Raises ActionError where a collection needs it, and while files are being read.
    """
    corpus = article.corpus
    with transaction.atomic():
        corpus = _locked(corpus)
        if users := users_of_document(article):
            raise ActionError(
                f"It stays: it can be shown to workers of {_named(users)}. Drop a draft, or choose "
                "its seeds again; what was published needs its documents."
            )
        # Before the rows: who dies in between leaves rows whose index is built again.
        _remove_files(corpus)
        _forget(corpus, article.document.external_id)
        article.delete()
        corpus.counts["removed"] = corpus.counts.get("removed", 0) + 1
        count_again(corpus)
    # What was built meanwhile has its words too.
    _remove_files(corpus)


def remove_corpus(corpus: Corpus) -> None:
    """Delete a corpus of documents with its texts, indexes and the notes on its uploads.

    Who dies half-way leaves a corpus that cannot be used and can be removed. Raises ActionError
    where a collection uses it, and while files are being read.
    """
    if corpus.kind != CorpusKind.DOCUMENTS:
        raise ActionError("It was read by a command, not uploaded.")
    with transaction.atomic():
        _locked(corpus)
        if users := list(corpus.collections.order_by("slug")):
            raise ActionError(f"It stays: {_named(users)} uses it. Drop a draft to remove it.")
        Corpus.objects.filter(pk=corpus.pk).update(state="failed")
    while batch := list(corpus.articles.values_list("pk", flat=True)[:BATCH]):
        _overwritten()
        Article.objects.filter(pk__in=batch).delete()
    _remove_files(corpus)
    DocumentUpload.objects.filter(slug=corpus.slug).delete()
    corpus.delete()


def _locked(corpus: Corpus) -> Corpus:
    row = Corpus.objects.select_for_update().filter(pk=corpus.pk).first()
    if row is None:
        raise ActionError("It was removed a moment ago.")
    if DocumentUpload.objects.filter(slug=corpus.slug, state__in=UNDER_WAY).exists():
        raise ActionError("Files are being read into it: wait for them to be done.")
    _overwritten()
    return row


def _overwritten() -> None:
    """Have SQLite overwrite what is deleted: a copy of its file has none of it then."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA secure_delete = ON")


def _forget(corpus: Corpus, external_id: str) -> None:
    """Take a document out of what uploads say of themselves."""
    # Alone, before a note on it, or among documents that are alike.
    named = re.compile(rf"(?:^|, | and ){re.escape(external_id)}(?:$|:|,| and | are | have )")
    for upload in DocumentUpload.objects.filter(corpus=corpus):
        for name, lines in upload.outcome.items():
            if isinstance(lines, list):
                upload.outcome[name] = [line for line in lines if not named.search(line)]
        upload.save(update_fields=["outcome"])


def _remove_files(corpus: Corpus) -> None:
    for graph in LinkGraph.objects.filter(corpus=corpus):
        path_of(graph).unlink(missing_ok=True)
        graph.delete()
    shutil.rmtree(folder_of(corpus), ignore_errors=True)


def _named(users: list[Collection]) -> str:
    return ", ".join(f"“{each.title or each.slug}”" for each in users)
