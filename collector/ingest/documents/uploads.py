"""Reads the files that a requester sends: the wish is a row, a job has a process fulfil it."""

import logging
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import DatabaseError, IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from collector import kept_folders
from collector.ingest.documents.ingestion import ingest_documents
from collector.ingest.errors import DocumentError, DumpError
from collector.ingest.ingestion import CorpusOptions
from collector.ingest.store import storing_failure
from collector.models import Corpus, DocumentUpload, UploadState
from common.actions import ActionError
from common.safe_files import FILE_MODE, private_path

log = logging.getLogger(__name__)
# A process that has given no sign for so long has died.
SILENT = timedelta(minutes=5)
SIGN_SECONDS = 5.0
SAY_SECONDS = 1.0
MODULE = "collector.ingest.documents"
BROKEN = "It broke on our side; the server's log says how. Send the files again."
UNDER_WAY: tuple[str, ...] = (UploadState.WAITING, UploadState.RUNNING)


def upload_documents(
    options: CorpusOptions,
    files: Iterable[tuple[str, UploadedFile]],
    by: str,
    now: datetime,
    form_key: str = "",
) -> DocumentUpload:
    """Keep files, each with its path in the sender's folder, until a job reads them.

    form_key: of the form that sent them. Raises ActionError where files for that corpus are being
    read already, and where this form has sent them before.
    """
    folder = private_path(private_path(Path(settings.HOME) / "uploads") / secrets.token_hex(16))
    n_files = 0
    for path, file in files:
        _keep(folder / safe_path(path), file)
        n_files += 1
    try:
        with transaction.atomic():
            return DocumentUpload.objects.create(
                slug=options.slug,
                corpus=Corpus.objects.filter(slug=options.slug).first(),
                name=options.name,
                language=options.language,
                licence=options.licence,
                licence_url=options.licence_url,
                folder=kept_folders.named(folder),
                n_files=n_files,
                by=by,
                form_key=form_key,
                asked_at=now,
            )
    except IntegrityError:
        shutil.rmtree(folder, ignore_errors=True)
        raise ActionError(
            f"Files for {options.slug} are being read already: wait for them to be done."
        ) from None


def safe_path(path: str) -> str:
    """Return a sender's path without what leads out of its folder; never blank."""
    parts = [part[:200] for part in PurePosixPath(path.replace("\\", "/")).parts]
    return "/".join(part for part in parts if part not in ("..", "/", ".")) or "document"


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


def uploads_to_read(now: datetime) -> list[int]:
    """Return the ids of the uploads that no living process is at."""
    return list(DocumentUpload.objects.filter(_free(now)).values_list("pk", flat=True))


def _free(now: datetime) -> Q:
    silent = Q(state=UploadState.RUNNING, seen_at__lt=now - SILENT)
    return Q(state=UploadState.WAITING) | silent


def read_upload(upload_id: int, now: datetime) -> None:
    """Have a process of its own read an upload; one job wins, the others do nothing."""
    claim = secrets.token_hex(16)
    taken = DocumentUpload.objects.filter(_free(now), pk=upload_id)
    if not taken.update(state=UploadState.RUNNING, claim=claim, seen_at=now):
        return
    mine = DocumentUpload.objects.filter(pk=upload_id, claim=claim, state=UploadState.RUNNING)
    process = subprocess.Popen(
        [sys.executable, "-m", MODULE, str(upload_id), claim],
        cwd=settings.BASE_DIR,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    try:
        while True:
            try:
                process.wait(SIGN_SECONDS)
                break
            except subprocess.TimeoutExpired:
                if not mine.update(seen_at=timezone.now()):
                    break
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    if mine.update(state=UploadState.FAILED, message=BROKEN, ended_at=timezone.now()):
        log.error("Upload %s: its process ended with code %s", upload_id, process.returncode)
        _remove_files(DocumentUpload.objects.get(pk=upload_id))


def work_on(upload_id: int, claim: str) -> None:
    """Read the files of an upload under our claim, and say in its row what came of it."""
    mine = DocumentUpload.objects.filter(pk=upload_id, claim=claim, state=UploadState.RUNNING)
    upload = mine.first()
    if upload is None:
        return
    said = timezone.now() - timedelta(seconds=SAY_SECONDS)

    def report(step: str, done: int, total: int) -> None:
        nonlocal said
        now = timezone.now()
        if done == total or (now - said).total_seconds() >= SAY_SECONDS:
            said = now
            mine.update(step=step, done=done, total=total, seen_at=now)

    ends: dict[str, Any] = {"state": UploadState.FAILED}
    try:
        found = ingest_documents(
            [kept_folders.found(upload.folder)],
            CorpusOptions(
                upload.slug, upload.name, upload.language, upload.licence, upload.licence_url
            ),
            processes=max(1, (os.cpu_count() or 1) // 2),
            report=report,
        )
    except (DocumentError, DumpError) as error:
        ends["message"] = str(error)
    except (DatabaseError, OSError) as error:
        log.exception("Upload %s", upload_id)
        ends["message"] = storing_failure(error)
    else:
        ends["state"], ends["corpus"] = UploadState.DONE, found.corpus
        ends["outcome"] = {
            "added": found.added,
            "changed": found.changed,
            "unchanged": found.unchanged,
            "left_out": found.left_out,
            "notes": found.notes,
        }
    mine.update(**ends, step="", ended_at=timezone.now())
    _remove_files(upload)


def _remove_files(upload: DocumentUpload) -> None:
    shutil.rmtree(kept_folders.found(upload.folder), ignore_errors=True)
