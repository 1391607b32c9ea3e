"""Documents that requesters upload: kept, read by a job, and removed again with their corpus."""

import errno
import os
import re
import secrets
import shutil
import subprocess
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from collector import kept_folders
from collector.graph.files import path_of
from collector.ingest.documents.ingestion import IngestReport, count_again, ingest_documents
from collector.ingest.errors import DocumentError, DumpError
from collector.ingest.ingestion import CorpusOptions
from collector.ingest.store import storing_failure
from collector.models import Article, Corpus, DocumentUpload, LinkGraph
from collector.models.corpus import CorpusKind
from collector.models.documents import named, users_of_documents
from collector.retrieval.files import folder_of
from common.actions import ActionError, Broken
from common.long_work import MOST_ATTEMPTS, RENEW_SECONDS, LongWork, LostClaim, WorkState
from common.safe_files import FILE_MODE, private_path

MODULE = "collector.ingest.documents"
SAY_SECONDS = 1.0
# Deeper than that Python removes no folder.
MOST_FOLDERS = 100
# So long the files of an upload that broke are kept: it can be tried again.
KEPT = timedelta(days=7)
# What came of an upload tells here what could not be kept when it was sent.
NOT_KEPT = "not_kept"
# Why a disk does not take a file, by its error.
UNFIT = {
    errno.ENAMETOOLONG: "its name is too long for the disk; shorten it and send it again.",
    errno.EEXIST: "a file is called like its folder; rename one of them and send it again.",
    errno.ENOTDIR: "a file is called like its folder; rename one of them and send it again.",
}


def upload_documents(
    options: CorpusOptions,
    files: Iterable[tuple[str, UploadedFile]],
    by: str,
    now: datetime,
    form_key: str = "",
) -> DocumentUpload:
    """Keep files, each with its path in the sender's folder, until a job reads them.

    form_key: of the form that sent them. What no disk takes under its name is left out and said.
    Raises ActionError where files for that corpus are being read already, where this form has sent
    them before, and where nothing can be kept. Whatever is raised, no file stays.
    """
    folder = _uploads() / secrets.token_hex(16)
    try:
        # Before the files, so that none lie anywhere without a row.
        with transaction.atomic():
            made = DocumentUpload.objects.create(
                slug=options.slug,
                corpus=Corpus.objects.filter(slug=options.slug).first(),
                name=options.name,
                language=options.language,
                licence=options.licence,
                licence_url=options.licence_url,
                folder=kept_folders.named(folder),
                by=by,
                form_key=form_key,
                asked_at=now,
            )
            upload = DocumentUpload.take(made.pk, now)
    except IntegrityError:
        raise ActionError(
            f"Files for {options.slug} are being read already: wait for them to be done."
        ) from None
    assert upload is not None
    try:
        private_path(folder)
        with upload.kept():
            n_files, not_kept = 0, list[str]()
            for path, file in files:
                try:
                    _keep(folder / safe_path(path), file)
                    n_files += 1
                except OSError as error:
                    if why := UNFIT.get(error.errno or 0):
                        not_kept.append(f"{path} is left out: {why}")
                    else:
                        raise ActionError(f"Nothing was kept: {storing_failure(error)}") from None
            if not n_files:
                raise ActionError("\n".join(not_kept) or "Choose a file first.")
            n_files, not_kept = (n_files, not_kept)
        upload.give_back(n_files=n_files, outcome={NOT_KEPT: not_kept})
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        made.delete()
        raise
    return upload


def safe_path(path: str) -> str:
    """Return a sender's path without what leads out of its folder, or too deep; never blank."""
    parts = [part[:200] for part in PurePosixPath(path.replace("\\", "/")).parts]
    kept = [part for part in parts if part not in ("..", "/", ".")]
    return "/".join(kept[-MOST_FOLDERS:]) or "document"


def _keep(path: Path, file: UploadedFile) -> None:
    private_path(path.parent)
    number = 1
    while path.exists():
        number += 1
        path = path.with_name(f"{path.stem}-{number}{path.suffix}")
    with path.open("wb") as kept:
        for piece in file.chunks():
            kept.write(piece)
    path.chmod(FILE_MODE)


def read_upload(upload_id: int, now: datetime) -> None:
    """Have a process of its own read an upload, whose files go when it is over."""
    DocumentUpload.do(upload_id, now, _read_apart)
    remove_files()


def _read_apart(upload: DocumentUpload) -> None:
    if upload.n_files is None or not kept_folders.found(upload.folder).is_dir():
        raise ActionError("The files did not all arrive, or are gone: send them again.")
    process = subprocess.Popen(
        [sys.executable, "-m", MODULE, str(upload.pk), upload.claim],
        cwd=settings.BASE_DIR,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    try:
        while upload.mine().exists():
            with suppress(subprocess.TimeoutExpired):
                process.wait(RENEW_SECONDS)
                break
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
    if upload.mine().exists():
        raise RuntimeError(f"Its process ended with code {process.returncode}.")


def work_on(upload_id: int, claim: str) -> None:
    """Read the files of an upload under our claim, and say in its row what came of it."""
    if upload := DocumentUpload.claimed(upload_id, claim):
        upload.carry_out(_read)
        # The process that began this may have been killed meanwhile.
        remove_files()


def _read(upload: DocumentUpload) -> None:
    not_kept: list[str] = upload.outcome.get(NOT_KEPT, [])
    before, said = dict(upload.outcome), timezone.now() - timedelta(seconds=SAY_SECONDS)

    def report(step: str, done: int, total: int) -> None:
        nonlocal said
        now = timezone.now()
        if done == total or (now - said).total_seconds() >= SAY_SECONDS:
            said = now
            upload.say(f"{step}: {done:,} of {total:,}", done / (total or 1))

    def outcome(found: IngestReport) -> dict[str, Any]:
        """Return what came of it, with what tries before this one have stored."""
        told: dict[str, Any] = {
            name: [*before.get(name, ()), *getattr(found, name)]
            for name in ("added", "changed", "notes")
        }
        n_before = len(told["added"]) + len(told["changed"])
        n_before -= len(found.added) + len(found.changed)
        unchanged = max(0, found.unchanged - n_before)
        left_out = [*not_kept, *found.left_out]
        return {**told, "unchanged": unchanged, "left_out": left_out, NOT_KEPT: not_kept}

    def stored(found: IngestReport) -> None:
        if not upload.mine().update(outcome=outcome(found)):
            raise LostClaim

    try:
        found = ingest_documents(
            [kept_folders.found(upload.folder)],
            CorpusOptions(
                upload.slug, upload.name, upload.language, upload.licence, upload.licence_url
            ),
            processes=max(1, (os.cpu_count() or 1) // 2),
            report=report,
            stored=stored,
        )
    except (DocumentError, DumpError) as error:
        raise ActionError("\n".join([*not_kept, str(error)])) from None
    except (DatabaseError, OSError) as error:
        raise Broken(storing_failure(error)) from error
    upload.finish(corpus=found.corpus, outcome=outcome(found))


def unneeded_files() -> list[Path]:
    """Return the folders of sent files that were read, refused, or kept for long enough."""
    # Each has its row before it is made.
    there = list(_uploads().glob("*"))
    kept = Q(state=WorkState.FAILED, attempts=MOST_ATTEMPTS, ended_at__gt=timezone.now() - KEPT)
    rows = DocumentUpload.objects.filter(Q(state__in=LongWork.GOING_ON) | kept)
    needed = {kept_folders.found(name) for name in rows.values_list("folder", flat=True)}
    return [folder for folder in there if folder not in needed]


def remove_files() -> None:
    """Remove them."""
    for folder in unneeded_files():
        shutil.rmtree(folder, ignore_errors=True)


def _uploads() -> Path:
    return Path(settings.HOME) / "uploads"


# How many articles are deleted at a time.
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
        # Before the rows: a process killed in between leaves rows whose index is built again.
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

    A killed process leaves a corpus that cannot be used and can be removed. Raises ActionError
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
