"""Removes what was read by mistake: a document, an upload's, or a whole corpus, with its files."""

import re
import shutil
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import partial

from django.db import connection, transaction
from django.db.models import QuerySet

from collector.graph.files import path_of
from collector.ingest.documents.ingestion import count_again
from collector.ingest.documents.uploads import remove_files
from collector.models import Article, Corpus, DocumentUpload, LinkGraph
from collector.models.corpus import CorpusKind
from collector.models.documents import named, users_of_documents
from collector.retrieval.files import folder_of
from common.actions import ActionError

# So many articles are deleted at a time.
BATCH = 200
# Where a name stands in a line: alone, before a note on it, or among documents that are alike.
NAME_BEGINS = re.compile(r"^|(?<=, )|(?<= and )")
NAME_ENDS = re.compile(r"(?=:|,| and | are | have |$)")


def remove_document(article: Article) -> None:
    """Delete a document with its text, and the indexes that have its words.

    Raises ActionError where a collection needs it, and while files are being read.
    """
    _remove(article.corpus, [article.document.external_id])


def remove_upload(upload: DocumentUpload) -> int:
    """Delete the documents that an upload brought, such as an archive's; return how many.

    All or none: raises ActionError as `remove_document` does.
    """
    assert upload.corpus is not None
    with transaction.atomic():
        number = _remove(upload.corpus, upload.outcome.get("added", []))
        # The same files may be sent again.
        upload.delete()
    return number


def _remove(corpus: Corpus, names: Sequence[str]) -> int:
    with transaction.atomic():
        corpus = _locked(corpus)
        articles = corpus.articles.filter(document__external_id__in=names)
        if users := users_of_documents(corpus, articles):
            which = "It stays: it can" if len(names) == 1 else "They stay: they can"
            raise ActionError(
                f"{which} be shown to workers of {named(users)}. Drop a draft, or choose "
                "its seeds again; what was published needs its documents."
            )
        # Before the rows: who dies in between leaves rows whose index is built again.
        _remove_files(corpus)
        _forget(corpus, names)
        number = articles.count()
        for batch in _batches(articles):
            batch.delete()
        corpus.counts["removed"] = corpus.counts.get("removed", 0) + number
        count_again(corpus)
    # What is built until the rows are gone for others too has its words.
    transaction.on_commit(partial(_remove_files, corpus))
    return number


def remove_corpus(corpus: Corpus) -> None:
    """Delete a corpus of documents with its texts, indexes and the notes on its uploads.

    Who dies half-way leaves a corpus that cannot be used and can be removed. Raises ActionError
    where a collection uses it, and while files are being read.
    """
    if corpus.kind != CorpusKind.DOCUMENTS:
        raise ActionError("It was read by a command, not uploaded.")
    with transaction.atomic():
        _locked(corpus)
        if users := corpus.collections.order_by("slug"):
            raise ActionError(f"It stays: {named(users)} uses it. Drop a draft to remove it.")
        Corpus.objects.filter(pk=corpus.pk).update(state="failed")
    for batch in _batches(corpus.articles.all()):
        _overwritten()
        batch.delete()
    _remove_files(corpus)
    DocumentUpload.objects.filter(slug=corpus.slug).delete()
    remove_files()
    corpus.delete()


def _batches(articles: QuerySet[Article]) -> Iterator[QuerySet[Article]]:
    """Yield articles some at a time, until they are all deleted."""
    while batch := list(articles.values_list("pk", flat=True)[:BATCH]):
        yield Article.objects.filter(pk__in=batch)


def _locked(corpus: Corpus) -> Corpus:
    row = Corpus.objects.select_for_update().filter(pk=corpus.pk).first()
    if row is None:
        raise ActionError("It was removed a moment ago.")
    if DocumentUpload.objects.filter(slug=corpus.slug, state__in=DocumentUpload.GOING_ON).exists():
        raise ActionError("Files are being read into it: wait for them to be done.")
    _overwritten()
    return row


def _overwritten() -> None:
    """Have SQLite overwrite what is deleted: a copy of its file has none of it then."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA secure_delete = ON")


def _forget(corpus: Corpus, names: Sequence[str]) -> None:
    """Take documents out of what uploads say of themselves."""
    gone = set(names)
    longest = max(map(len, gone), default=0)
    for upload in DocumentUpload.objects.filter(corpus=corpus):
        for kind, lines in upload.outcome.items():
            if kind in ("added", "changed"):
                upload.outcome[kind] = [line for line in lines if line not in gone]
            elif isinstance(lines, list):
                upload.outcome[kind] = [
                    line for line in lines if gone.isdisjoint(_names_in(line, longest))
                ]
        upload.save(update_fields=["outcome"])


def _names_in(line: str, longest: int) -> Iterator[str]:
    """Yield what may be a document's name in a line, and is no longer than `longest`."""
    ends = [match.start() for match in NAME_ENDS.finditer(line)]
    for match in NAME_BEGINS.finditer(line):
        start = match.start()
        for end in ends[bisect_right(ends, start) : bisect_right(ends, start + longest)]:
            yield line[start:end]


def _remove_files(corpus: Corpus) -> None:
    for graph in LinkGraph.objects.filter(corpus=corpus):
        path_of(graph).unlink(missing_ok=True)
        graph.delete()
    shutil.rmtree(folder_of(corpus), ignore_errors=True)
