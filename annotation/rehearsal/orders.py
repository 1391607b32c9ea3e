"""Rehearsals that requesters ask for: a row says what, a job has a process of its own do it.

Of the collection nothing is written, neither here nor there: the process gets a copy in a folder,
with a database, a marketplace and keys of its own, and no address of ours.
"""

import json
import socket
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from django.db import transaction
from django.utils import timezone

from annotation.claimed_folders import claimed_folder
from annotation.models import Rehearsal, RehearsalPage
from annotation.rehearsal.__main__ import COPY, FINDINGS, PAGES, WORK
from annotation.rehearsal.copying import Copied, write_copy
from collector.environment import Environment
from collector.models import Collection, Corpus
from collector.models.corpus import CorpusKind
from collector.protocols.loading import ProtocolError, get_protocol
from common.actions import ActionError
from common.command_line import MANAGE
from common.watched_process import ReaderDied, WatchedProcess
from tasks.costs import estimate, totals
from tasks.work.kinds.registry import kind_of

DEFAULT_WORKERS = 12
MOST_WORKERS = 100
# For the workers; what comes before and after has as long again as it usually needs.
MOST_MINUTES = 15
AROUND = timedelta(minutes=5)
# The rehearsals of a collection that are kept; older ones go.
MOST_KEPT = 5
MODULE = "annotation.rehearsal"

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
    made = Rehearsal.ask(collection=collection, n_workers=n_workers, by=by, asked_at=now)
    if made is None:
        raise ActionError("It is being rehearsed already: wait for it, or stop it.")
    ended = Rehearsal.objects.filter(collection=collection).exclude(state__in=Rehearsal.GOING_ON)
    Rehearsal.objects.filter(
        pk__in=list(ended.values_list("pk", flat=True)[MOST_KEPT - 1 :])
    ).delete()
    return made


def forget_rehearsals(corpus: Corpus) -> None:
    """Delete what is kept of all rehearsals over a corpus: pages as simulated workers saw them."""
    Rehearsal.objects.filter(collection__corpus=corpus).delete()


def rehearse(rehearsal_id: int, now: datetime, report: Report = lambda step, share: None) -> bool:
    """Return whether this call rehearsed to the end; what another has, or stopped, is left alone.

    report: is told a step and the share of all that is done.
    """
    return Rehearsal.do(rehearsal_id, now, partial(_rehearse, report=report))


def _rehearse(row: Rehearsal, report: Report) -> None:
    row.say("The collection is copied")
    with claimed_folder(row) as folder:
        copied = write_copy(row.collection, row.n_workers, folder / COPY)
        work = {"n_workers": row.n_workers, "most_seconds": 60 * MOST_MINUTES}
        (folder / WORK).write_text(json.dumps(work), "utf-8")
        process = WatchedProcess(folder)
        try:
            process.run("-m", MODULE, str(folder), **_nothing_of_ours(folder))
            latest = timezone.now() + timedelta(minutes=MOST_MINUTES) + AROUND
            while not process.is_over():
                said = process.progress()
                row.say(said.step, said.share)
                if timezone.now() > latest:
                    minutes = MOST_MINUTES + AROUND.total_seconds() / 60
                    raise ActionError(
                        f"It took longer than {minutes:.0f} minutes. Try fewer workers."
                    )
                report(said.step, said.share)
            process.check()
        except ReaderDied as error:
            # What it said last is nothing for the page.
            raise RuntimeError(str(error)) from None
        finally:
            process.stop()
        findings = json.loads((folder / FINDINGS).read_text("utf-8"))
        # A line ends where a file's lines do: words may have what splitlines() takes for an end.
        with (folder / PAGES).open(encoding="utf-8") as file:
            pages = [json.loads(line) for line in file]
    whole = totals(row.collection, estimate(row.collection))
    findings["copied"] = {"seeds": copied.seeds, "articles": copied.articles}
    findings["part"] = _part(row.collection, copied)
    findings["whole"] = {
        "seeds": row.collection.seeds.count(),
        "expected_cents": whole.expected,
        "maximum_cents": whole.maximum,
        "budget_cents": row.collection.budget_cents,
    }
    with transaction.atomic():
        row.finish(findings=findings)
        RehearsalPage.objects.bulk_create(
            RehearsalPage(rehearsal=row, position=position, **page)
            for position, page in enumerate(pages, 1)
        )


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
