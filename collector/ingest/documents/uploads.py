"""Reads the files that a requester sends: the wish is a row, a job has a process fulfil it."""

import errno
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import DatabaseError, IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from collector import kept_folders
from collector.ingest.documents.ingestion import IngestReport, ingest_documents
from collector.ingest.errors import DocumentError, DumpError
from collector.ingest.ingestion import CorpusOptions
from collector.ingest.store import storing_failure
from collector.models import Corpus, DocumentUpload
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
        # Whoever began this may have been killed meanwhile.
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
