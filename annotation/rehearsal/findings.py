"""What a rehearsal found, as plain data: time, pay, cost, agreement, and what workers met."""

from collections import Counter
from collections.abc import Iterator
from statistics import quantiles
from typing import Any

from django.db.models import Sum

from annotation.decisions.verdicts import verdict_counts
from annotation.rehearsal.diary import Diary, Effort
from annotation.reports.collection import tables_of
from annotation.reports.pay import StagePay, pay_of
from annotation.tables.table import Table
from collector.models import Collection
from collector.protocols.creation import parameters_of
from collector.protocols.parameters import Parameters, StageTable
from tasks.costs import Totals, cents_per_hour
from tasks.models import Payment, PaymentState
from tasks.simulation import crowd
from tasks.simulation.crowd import Result
from tasks.work.kinds.hit_words import title_of

# Brysbaert, Journal of Memory and Language 109 (2019): silent reading of English non-fiction.
READ_WORDS_PER_MINUTE = 238
# Dhakal et al., CHI 2018: mean of 136 million keystrokes; a word is five of them.
TYPED_WORDS_PER_MINUTE = 52
CHARACTERS_PER_WORD = 5
# More alike say nothing new.
MOST_SENTENCES = 12


def findings_of(
    collection: Collection, diary: Diary, result: Result, money: Totals
) -> dict[str, Any]:
    """Return what came of a rehearsal, fit for JSON; money: the copy's estimate beforehand.

    Cents include fees. `least_minutes` of a stage: what a HIT takes to read and to type alone.
    """
    parameters = parameters_of(collection)
    verdicts = verdict_counts(collection)
    stages = [_stage(row, parameters, diary, result) for row in pay_of(collection)]
    return {
        "workers": result.n_workers,
        "seconds": round(result.seconds, 1),
        "out_of_time": result.out_of_time,
        "hits": sum(result.hits.values()),
        "qualified": result.counts["qualified"],
        "declined": result.counts["declined"],
        "stages": stages,
        "cost_cents": _cost(collection),
        "expected_cents": money.expected,
        "maximum_cents": money.maximum,
        "kept": verdicts.kept,
        "dropped": verdicts.dropped,
        "waiting": verdicts.waiting,
        "problems": list(_problems(collection, diary, result, stages)),
        "server": _server(diary.seconds),
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


def _stage(pay: StagePay, parameters: Parameters, diary: Diary, result: Result) -> dict[str, Any]:
    table: StageTable = parameters.stages()[pay.stage]
    least = least_minutes(diary.efforts.get(title_of(table), Effort()))
    return {
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


def _cost(collection: Collection) -> int:
    """Return what was owed and paid, fees included."""
    owed = Payment.objects.filter(collection=collection).exclude(state=PaymentState.WITHHELD)
    found = owed.aggregate(pay=Sum("amount_cents"), fees=Sum("fee_cents"))
    return (found["pay"] or 0) + (found["fees"] or 0)


def _server(seconds: list[float]) -> dict[str, Any]:
    """Return how many requests were answered, and in how many milliseconds half and 95 % were."""
    if len(seconds) < 2:
        return {"requests": len(seconds)}
    cuts = quantiles(seconds, n=20)
    return {
        "requests": len(seconds),
        "median_ms": round(1000 * cuts[9]),
        "slow_ms": round(1000 * cuts[18]),
    }


def _problems(
    collection: Collection, diary: Diary, result: Result, stages: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield what a requester should look at, the gravest first; `n`: how often it was met."""
    yield from (_problem("stuck", said, n) for said, n in Counter(diary.stuck_workers).items())
    if result.out_of_time:
        yield _problem("time", "The time was over before all work was done.")
    titles = {stage["name"]: stage["title"] for stage in stages}
    tables = parameters_of(collection).stages()
    for name, number in crowd.places_left(collection).items():
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
