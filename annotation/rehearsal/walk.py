"""One rehearsal in an empty home: simulated workers do its HITs, and its findings."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from statistics import quantiles
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.db.models import Sum
from django.utils import timezone

from annotation.decisions.verdicts import decide_collection, verdict_counts
from annotation.rehearsal.copying import load_copy
from annotation.rehearsal.diary import MOMENTS, Diary, Effort, SeenPage
from annotation.reports.collection import tables_of
from annotation.reports.pay import pay_of
from annotation.tables.table import Table
from collector.models import Collection
from collector.protocols.creation import current_text, parameters_of
from collector.protocols.parameters import StageTable
from collector.retrieval.index import RetrievalError
from collector.retrieval.passages import build_passages
from collector.serving.one_process import make_requester, serving
from common.actions import ActionError
from tasks.costs import Totals, cents_per_hour, estimate, totals
from tasks.lifecycle.publication import publish
from tasks.models import Payment, PaymentState
from tasks.pages.work_page import preview_page
from tasks.people import lease_context
from tasks.simulation.behaviour import MIXED
from tasks.simulation.crowd import Result, places_left
from tasks.simulation.recruiting import recruit
from tasks.work.kinds.hit_words import title_of
from tasks.work.kinds.registry import kind_of

# Brysbaert, Journal of Memory and Language 109 (2019): silent reading of English non-fiction.
READ_WORDS_PER_MINUTE = 238
# Dhakal et al., CHI 2018: mean of 136 million keystrokes; a word is five of them.
TYPED_WORDS_PER_MINUTE = 52
CHARACTERS_PER_WORD = 5
# More alike say nothing new.
MOST_SENTENCES = 12
THREADS = 4
# Of the whole: until the first worker comes, and until the last one leaves.
OPEN, CLOSED = 0.1, 0.95
BEFORE = "Before it is accepted"

Tell = Callable[[str, float], None]


def findings_of(
    collection: Collection, diary: Diary, result: Result, money: Totals
) -> dict[str, Any]:
    """Return what came of a rehearsal, fit for JSON; money: the copy's estimate beforehand.

    Cents include fees. `least_minutes` of a stage: what a HIT takes to read and to type alone.
    """
    parameters, verdicts = parameters_of(collection), verdict_counts(collection)
    stages: list[dict[str, Any]] = []
    for pay in pay_of(collection):
        table: StageTable = parameters.stages()[pay.stage]
        least = least_minutes(diary.efforts.get(title_of(table), Effort()))
        stages.append(
            {
                "name": pay.stage,
                "title": title_of(table),
                "hits": result.hits[pay.stage],
                "reward_cents": pay.reward_cents,
                "bonus_cents": pay.bonus_cents,
                "expected_minutes": table.expected_minutes,
                "least_minutes": None if least is None else round(least, 1),
                "cents_per_hour": cents_per_hour(table),
                "floor_cents_per_hour": parameters.pay.floor_cents_per_hour,
            }
        )
    owed = Payment.objects.filter(collection=collection).exclude(state=PaymentState.WITHHELD)
    cost = owed.aggregate(pay=Sum("amount_cents", default=0), fees=Sum("fee_cents", default=0))
    server: dict[str, Any] = {"requests": len(diary.seconds)}
    if len(diary.seconds) > 1:
        # In how many milliseconds half of the requests were answered, and 95 % of them.
        cuts = quantiles(diary.seconds, n=20)
        server |= {"median_ms": round(1000 * cuts[9]), "slow_ms": round(1000 * cuts[18])}
    return {
        "workers": result.n_workers,
        "seconds": round(result.seconds, 1),
        "out_of_time": result.out_of_time,
        "hits": sum(result.hits.values()),
        "qualified": result.counts["qualified"],
        "declined": result.counts["declined"],
        "stages": stages,
        "cost_cents": cost["pay"] + cost["fees"],
        "expected_cents": money.expected,
        "maximum_cents": money.maximum,
        "kept": verdicts.kept,
        "dropped": verdicts.dropped,
        "waiting": verdicts.waiting,
        "problems": list(_problems(collection, diary, result, stages)),
        "server": server,
        "tables": [as_stored(table) for table in tables_of(collection)],
    }


def as_stored(table: Table) -> dict[str, Any]:
    """Return the fields of a report's table for JSON, but what is drawn of it."""
    return {**table.plain(), "shaded_from": table.shaded_from, "of_people": table.of_people}


def least_minutes(effort: Effort) -> float | None:
    """Return how long a HIT takes at least, in minutes: to read it all and to type what was typed.

    At the pace of people; without looking, thinking and marking. None where nothing is known.
    """
    if not effort.hits or not (effort.words_read or effort.characters_typed):
        return None
    words_typed = effort.characters_typed / CHARACTERS_PER_WORD
    minutes = effort.words_read / READ_WORDS_PER_MINUTE + words_typed / TYPED_WORDS_PER_MINUTE
    return minutes / effort.hits


def _problems(
    collection: Collection, diary: Diary, result: Result, stages: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield what a requester should look at, the gravest first; `n`: how often it was met."""
    yield from (_problem("stuck", said, n) for said, n in Counter(diary.stuck_workers).items())
    if result.out_of_time:
        yield _problem("time", "The time was over before all work was done.")
    titles = {stage["name"]: stage["title"] for stage in stages}
    tables = parameters_of(collection).stages()
    for name, number in places_left(collection).items():
        # More may try to qualify than have to.
        if tables[name].qualifies:
            continue
        yield _problem("places", "Assignments that nobody could take.", number, titles[name])
    for (title, message), number in diary.failed_searches.most_common(MOST_SENTENCES):
        yield _problem("search", message, number, title)
    if result.waiting:
        yield _problem("jobs", f"Still waiting for the jobs: {result.waiting}.")
    for stage in stages:
        if stage["cents_per_hour"] < stage["floor_cents_per_hour"]:
            yield _problem("pay", "Pays less than your floor an hour.", None, stage["title"])
        if (stage["least_minutes"] or 0) > stage["expected_minutes"]:
            yield _problem("minutes", "Takes longer than expected.", None, stage["title"])
    for is_refusal, kind in ((True, "refused"), (False, "advised")):
        told = Counter({key: n for key, n in diary.told.items() if key[1] is is_refusal})
        for (title, _, sentence), number in told.most_common(MOST_SENTENCES):
            yield _problem(kind, sentence, number, title)
    for heading, number in diary.notices.most_common(MOST_SENTENCES):
        yield _problem("notice", heading, number)
    if diary.n_returned:
        yield _problem("returned", "HITs that were taken and given back.", diary.n_returned)


def _problem(kind: str, sentence: str, n: int | None = None, stage: str = "") -> dict[str, Any]:
    return {"kind": kind, "sentence": sentence, "n": n, "stage": stage}


def walk(
    copy: Path, *, n_workers: int, most_seconds: float, tell: Tell
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the findings and the pages of a rehearsal of the copy, in this empty home.

    tell: is told a step and the share of all that is done, 0 to 1. Raises ActionError,
    MarketplaceError, ProtocolError, UnreachableError.
    """
    tell("The copy is made", 0.0)
    for database in settings.DATABASES:
        # The tables are made as models have them: nothing is there to migrate.
        call_command("migrate", database=database, run_syncdb=True, verbosity=0)
    make_requester()
    collection = load_indexed(copy)
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
        n_expected = max(1, sum(row.places for row in rows))

        def report(result: Result) -> None:
            n_done = sum(result.hits.values())
            words = f"{result.n_workers} simulated workers have done {n_done:,} HITs"
            tell(words, OPEN + (CLOSED - OPEN) * min(1.0, n_done / n_expected))

        result = crowd.run(report)
    tell("The findings are written", CLOSED)
    decide_collection(collection, timezone.now())
    collection.refresh_from_db()
    findings = findings_of(collection, diary, result, money)
    return findings, [asdict(page) for page in _in_order(collection, diary)]


def load_indexed(copy: Path) -> Collection:
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
