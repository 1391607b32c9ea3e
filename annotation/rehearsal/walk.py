"""One rehearsal in an empty home: the copy is published, and simulated workers do its HITs."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.utils import timezone

from annotation.decisions.verdicts import decide_collection
from annotation.rehearsal.copying import load_copy
from annotation.rehearsal.diary import MOMENTS, Diary, SeenPage
from annotation.rehearsal.findings import findings_of
from collector.models import Collection
from collector.protocols.creation import current_text, parameters_of
from collector.retrieval.index import RetrievalError
from collector.retrieval.passages import build_passages
from collector.serving.one_process import make_requester, serving
from common.actions import ActionError
from tasks.costs import estimate, totals
from tasks.lifecycle.publication import publish
from tasks.pages.work_page import preview_page
from tasks.people import lease_context
from tasks.simulation.behaviour import MIXED
from tasks.simulation.crowd import Result
from tasks.simulation.recruiting import recruit
from tasks.work.kinds.hit_words import title_of
from tasks.work.kinds.registry import kind_of

THREADS = 4
# Of the whole: until the first worker comes, and until the last one leaves.
OPEN, CLOSED = 0.1, 0.95
BEFORE = "Before it is accepted"

Tell = Callable[[str, float], None]


def walk(
    copy: Path, *, n_workers: int, most_seconds: float, tell: Tell
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the findings and the pages of a rehearsal of the copy, in this empty home.

    tell: is told a step and the share of all that is done, 0 to 1. Raises ActionError,
    MarketplaceError, ProtocolError, UnreachableError.
    """
    tell("The copy is made", 0.0)
    _make_databases()
    collection = _load(copy)
    rows = estimate(collection)
    money = totals(collection, rows)
    # What it costs is told afterwards: nobody is kept from working by it.
    budget = max(collection.budget_cents, 2 * money.maximum)
    Collection.objects.filter(pk=collection.pk).update(budget_cents=budget)
    collection.refresh_from_db()
    diary = Diary()
    tell("Its HITs go up", OPEN / 2)
    with serving(settings.PORT):
        publish(collection)
        crowd = recruit(
            collection,
            n_workers,
            behaviour=MIXED,
            seed=collection.random_seed,
            threads=THREADS,
            inspect=True,
            observer=diary,
            most_seconds=most_seconds,
        )
        result = crowd.run(_reporter(tell, sum(row.places for row in rows)))
    tell("The findings are written", CLOSED)
    decide_collection(collection, timezone.now())
    collection.refresh_from_db()
    findings = findings_of(collection, diary, result, money)
    return findings, [asdict(page) for page in _in_order(collection, diary)]


def _make_databases() -> None:
    """Make the tables of both databases as models have them: nothing is there to migrate."""
    for database in settings.DATABASES:
        call_command("migrate", database=database, run_syncdb=True, verbosity=0)
    make_requester()


def _load(copy: Path) -> Collection:
    """Return the collection of the copy, with its passages indexed where a stage searches them.

    Raises ActionError for a corpus that is being read.
    """
    collection = load_copy(copy)
    if any(kind_of(stage).searches for stage in collection.stages.all()):
        try:
            build_passages(collection.corpus)
        except RetrievalError as error:
            raise ActionError(str(error)) from None
    return collection


def _reporter(tell: Tell, n_expected: int) -> Callable[[Result], None]:
    def report(result: Result) -> None:
        n_done = sum(result.hits.values())
        share = min(1.0, n_done / max(1, n_expected))
        words = f"{result.n_workers} simulated workers have done {n_done:,} HITs"
        tell(words, OPEN + (CLOSED - OPEN) * share)

    return report


def _in_order(collection: Collection, diary: Diary) -> list[SeenPage]:
    """Return the pages in the order in which a worker meets them, each stage with its preview."""
    found = [page for page in diary.pages.values() if not page.stage]
    tables = parameters_of(collection).stages()
    for stage in collection.stages.all():
        table = tables[stage.name]
        words = current_text(collection, stage.name)
        setting = lease_context.stage_context_of(stage.pk, words.pk)
        page = preview_page(setting, table.reward_cents, timezone.now(), {})
        found.append(SeenPage(title_of(table), BEFORE, page.decode(), is_work=True))
        seen = [page for page in diary.pages.values() if page.stage == title_of(table)]
        found += sorted(seen, key=lambda page: MOMENTS.index(page.moment))
    return found
