"""Rehearsals that requesters ask for: a row says what, a job has a process of its own do it.

Of the collection nothing is written, neither here nor there: the process gets a copy in a folder,
with a database, a marketplace and keys of its own, and no address of ours.
"""

import json
import logging
import secrets
import shutil
import socket
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DatabaseError, IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.models import Rehearsal, RehearsalPage, RehearsalState
from annotation.readers.watched_process import ReaderDied, Refused, WatchedProcess
from annotation.rehearsal.__main__ import COPY, FINDINGS, PAGES, WORK
from annotation.rehearsal.copying import Copied, write_copy
from collector.environment import Environment
from collector.models import Collection, Corpus
from collector.models.corpus import CorpusKind
from collector.protocols.loading import ProtocolError, get_protocol
from common.actions import ActionError
from common.command_line import MANAGE
from common.safe_files import private_path
from tasks.kinds.registry import kind_of
from tasks.money.estimates import estimate, totals

log = logging.getLogger(__name__)
DEFAULT_WORKERS = 12
MOST_WORKERS = 100
# For the workers; what comes before and after has as long again as it usually needs.
MOST_MINUTES = 15
AROUND = timedelta(minutes=5)
# Whoever has given no sign for so long has died.
SILENT = timedelta(minutes=1)
# So many of a collection are kept; older ones go.
MOST_KEPT = 5
MODULE = "annotation.rehearsal"
GONE = "The process that rehearsed it was ended, and its copy is thrown away. Rehearse it again."
BROKEN = "It broke on our side; the server's log says how. The copy is thrown away."

Report = Callable[[str, float], None]


def check_rehearsable(collection: Collection) -> None:
    """Raise ActionError, with what to do, for a collection that cannot be rehearsed."""
    # A process of the jobs starts without it.
    from tasks.simulation.simulated_contract import SIMULATED

    if not collection.seeds.exists():
        raise ActionError(
            f"The collection has no seeds. Choose some: {MANAGE} select_seeds {collection.slug}",
            on_page="Workers have nothing to do yet: choose seeds first.",
        )
    try:
        get_protocol(collection.protocol).part(SIMULATED)
    except ProtocolError as error:
        raise ActionError(str(error)) from None


def order_rehearsal(collection: Collection, n_workers: int, by: str, now: datetime) -> Rehearsal:
    """Return the new rehearsal, which waits for a job.

    Raises ActionError where it cannot be rehearsed, or is being rehearsed.
    """
    if not 2 <= n_workers <= MOST_WORKERS:
        raise ActionError(f"Rehearse with 2 to {MOST_WORKERS} simulated workers.")
    check_rehearsable(collection)
    try:
        with transaction.atomic():
            made = Rehearsal.objects.create(
                collection=collection, n_workers=n_workers, by=by, asked_at=now
            )
    except IntegrityError:
        raise ActionError("It is being rehearsed already: wait for it, or stop it.") from None
    ended = Rehearsal.objects.filter(collection=collection).exclude(state__in=Rehearsal.GOING_ON)
    Rehearsal.objects.filter(
        pk__in=list(ended.values_list("pk", flat=True)[MOST_KEPT - 1 :])
    ).delete()
    return made


def stop_rehearsal(rehearsal: Rehearsal, now: datetime) -> bool:
    """Return whether it was stopped; whoever has it throws the copy away within seconds."""
    going_on = Rehearsal.objects.filter(pk=rehearsal.pk, state__in=Rehearsal.GOING_ON)
    return bool(going_on.update(state=RehearsalState.STOPPED, step="", ended_at=now))


def forget_rehearsals(corpus: Corpus) -> None:
    """Delete what is kept of all rehearsals over a corpus: pages as simulated workers saw them."""
    Rehearsal.objects.filter(collection__corpus=corpus).delete()


def rehearsals_due(now: datetime) -> list[int]:
    """Return the ids of those that died, and of those that wait while none is under way."""
    rows = Rehearsal.objects.filter(state__in=Rehearsal.GOING_ON).order_by("asked_at", "pk")
    if running := [row for row in rows.defer("findings") if row.state == RehearsalState.RUNNING]:
        return [row.pk for row in running if row.seen_at and row.seen_at < now - SILENT]
    return [row.pk for row in rows.only("pk")]


def rehearse(rehearsal_id: int, now: datetime, report: Report = lambda step, share: None) -> bool:
    """Return whether this call rehearsed to the end; what another has, or stopped, is left alone.

    report: is told a step and the share of all that is done. What a dead process left has failed.
    """
    silent = Rehearsal.objects.filter(state=RehearsalState.RUNNING, seen_at__lt=now - SILENT)
    silent.update(state=RehearsalState.FAILED, step="", message=GONE, ended_at=now)
    throw_leftovers_away()
    claim = secrets.token_hex(16)
    try:
        with transaction.atomic():
            waiting = Rehearsal.objects.filter(pk=rehearsal_id, state=RehearsalState.WAITING)
            claimed = waiting.update(
                state=RehearsalState.RUNNING,
                claim=claim,
                seen_at=now,
                began_at=now,
                step="The collection is copied",
            )
    except IntegrityError:
        # Another one is under way: this one goes on waiting.
        return False
    if not claimed:
        return False
    mine = Rehearsal.objects.filter(pk=rehearsal_id, claim=claim, state=RehearsalState.RUNNING)
    folder = _folder() / claim
    try:
        private_path(_folder())
        private_path(folder)
        return _rehearse(mine, folder, report)
    except (ReaderDied, ActionError, ProtocolError, DatabaseError, OSError) as error:
        log.warning("Rehearsal %s: %s", rehearsal_id, error)
        told = str(error) if isinstance(error, Refused | ActionError | ProtocolError) else BROKEN
        _end(mine, RehearsalState.FAILED, message=told)
        return False
    except KeyboardInterrupt:
        _end(mine, RehearsalState.STOPPED)
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        # Whatever ended us: nothing is left to go on with.
        _end(mine, RehearsalState.FAILED, message=BROKEN)


def _rehearse(mine: QuerySet[Rehearsal], folder: Path, report: Report) -> bool:
    row = mine.select_related("collection__corpus").get()
    copied = write_copy(row.collection, row.n_workers, folder / COPY)
    work = {"n_workers": row.n_workers, "most_seconds": 60 * MOST_MINUTES}
    (folder / WORK).write_text(json.dumps(work), "utf-8")
    process = WatchedProcess(folder)
    try:
        process.run("-m", MODULE, str(folder), **_nothing_of_ours(folder))
        if not _watch(mine, process, report):
            return False
        process.check()
    finally:
        process.stop()
    whole = totals(row.collection, estimate(row.collection))
    findings = json.loads((folder / FINDINGS).read_text("utf-8"))
    findings["copied"] = {"seeds": copied.seeds, "articles": copied.articles}
    findings["part"] = _part(row.collection, copied)
    findings["whole"] = {
        "seeds": row.collection.seeds.count(),
        "expected_cents": whole.expected,
        "maximum_cents": whole.maximum,
        "budget_cents": row.collection.budget_cents,
    }
    # A line ends where a file's lines do: words may have what splitlines() takes for an end.
    with (folder / PAGES).open(encoding="utf-8") as file:
        pages = [json.loads(line) for line in file]
    return _keep(mine, row, findings, pages)


def _part(collection: Collection, copied: Copied) -> str:
    """Return in a sentence or two how much of the corpus was there, blank for all of it."""
    if copied.articles == copied.articles_in_all:
        return ""
    what = "documents" if collection.corpus.kind == CorpusKind.DOCUMENTS else "articles"
    told = (
        f"Of the corpus’s {copied.articles_in_all:,} {what} {copied.articles:,} were copied: "
        "those that the seeds show, and what they link to."
    )
    if any(kind_of(stage).searches for stage in collection.stages.all()):
        told += " A search found no others, so finding an answer was easier than it will be."
    return told


def _watch(mine: QuerySet[Rehearsal], process: WatchedProcess, report: Report) -> bool:
    """Return whether the process ended by itself; False where it was stopped from outside.

    Raises ActionError where it took too long.
    """
    latest = timezone.now() + timedelta(minutes=MOST_MINUTES) + AROUND
    while not process.is_over():
        said, now = process.progress(), timezone.now()
        if not mine.update(seen_at=now, step=said.step[:120], share_done=said.share):
            return False
        if now > latest:
            minutes = MOST_MINUTES + AROUND.total_seconds() / 60
            raise ActionError(f"It took longer than {minutes:.0f} minutes. Try fewer workers.")
        report(said.step, said.share)
    return True


def _keep(
    mine: QuerySet[Rehearsal],
    row: Rehearsal,
    findings: dict[str, Any],
    pages: list[dict[str, Any]],
) -> bool:
    """Store what was found, unless it was stopped meanwhile; returns whether it was stored."""
    with transaction.atomic():
        if not _end(mine, RehearsalState.DONE, findings=findings, share_done=1):
            return False
        RehearsalPage.objects.bulk_create(
            RehearsalPage(rehearsal=row, position=position, **page)
            for position, page in enumerate(pages, 1)
        )
    return True


def _end(mine: QuerySet[Rehearsal], state: RehearsalState, **values: Any) -> bool:
    return bool(mine.update(state=state, step="", ended_at=timezone.now(), **values))


def _nothing_of_ours(folder: Path) -> dict[str, str]:
    """Return the environment of the process: a home of its own, and nothing that leads out of it.

    An empty variable counts as not set.
    """
    ours = dict.fromkeys(set(Environment.model_fields) - {"COLLECTOR_PROTOCOLS"}, "")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return {
        **ours,
        "COLLECTOR_HOME": str(folder / "home"),
        "DJANGO_SETTINGS_MODULE": "annotation.rehearsal.home_settings",
        "PORT": str(port),
    }


def _folder() -> Path:
    return Path(settings.HOME) / "rehearsals"


def leftovers() -> list[Path]:
    """Return the copies of rehearsals on this machine that nobody is at any more."""
    going_on = Rehearsal.objects.filter(state=RehearsalState.RUNNING)
    claims = set(going_on.values_list("claim", flat=True))
    return [left for left in _folder().glob("*") if left.name not in claims]


def throw_leftovers_away() -> None:
    """Remove them."""
    for left in leftovers():
        shutil.rmtree(left, ignore_errors=True)
