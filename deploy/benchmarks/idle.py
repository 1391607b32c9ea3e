"""CPU of `run` while nobody does anything, as finished collections grow; and how soon it wakes."""

import os
import statistics
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.db.models import F, Max
from django.utils import timezone

from tests.serving import Instance, serving

OPEN = 5
# How many finished collections there are beside the open ones, level by level.
FINISHED = (5, 45, 500)
RUNS, SECONDS = 5, 60.0
# Whoever uses more of a core than this still does what starting and publishing bring.
LOOK_SECONDS, BUSY = 20.0, 0.03
# What those who are paired late can talk about.
SECTIONS = 64
LONGEST_WAIT_SECONDS = 600.0
PAIRS, WORKERS = 5, 6
TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Print hundredths of a core at every level, then how long a verdict and a pair take."""
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as site:
        site.call("deploy.benchmarks.idle:open_collections", OPEN)
        there = 0
        print(f"{'finished':10}{'% of a core (median, all runs)':>40}")
        for level in FINISHED:
            site.call("deploy.benchmarks.idle:finish_collections", there, level)
            there = level
            _settle(site)
            shares = [100 * _share(site, SECONDS) for _ in range(RUNS)]
            runs = ", ".join(f"{share:.2f}" for share in shares)
            print(f"{level:<10}{statistics.median(shares):>10.2f}  ({runs})", flush=True)
        waits = [site.call("deploy.benchmarks.idle:pair_late") for _ in range(PAIRS)]
        print(f"a pair that only the rows tell of: {_spread(waits)}", flush=True)
        site.run("simulate", "open0", "--workers", str(WORKERS), "--inspect")
        waits = site.call("deploy.benchmarks.idle:seconds_to_decide", "open0")
        print(f"a verdict after its last vote was handed in: {_spread(waits)}")


def _spread(seconds: list[float]) -> str:
    median, most = statistics.median(seconds), max(seconds)
    return f"{median:.2f} s (median of {len(seconds)}), {most:.2f} s (most)"


def _settle(site: Instance) -> None:
    """Wait until the jobs have looked at whatever was written, as fast as they can."""
    until = time.monotonic() + LONGEST_WAIT_SECONDS
    while time.monotonic() < until and _share(site, LOOK_SECONDS) > BUSY:
        pass


def _share(site: Instance, seconds: float) -> float:
    """Return which share of one core the server used meanwhile, its threads that ended included."""
    assert site._server
    before, began = _cpu_seconds(site._server.pid), time.monotonic()
    time.sleep(seconds)
    return (_cpu_seconds(site._server.pid) - before) / (time.monotonic() - began)


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    own = sum(map(int, fields[11:15])) / TICKS
    children = " ".join(
        each.read_text() for each in Path(f"/proc/{pid}/task").glob("*/children")
    ).split()
    return own + sum(_cpu_seconds(int(child)) for child in children)


def open_collections(number: int) -> None:
    """Open copies of the sample's half-done collection (runs on the instance's databases)."""
    from collector.serving import sample

    chosen = sample.read_plan()["half_done"]
    sample.read_corpus(chosen["corpus"])
    for count in range(number):
        sample.open_collection({**chosen, "slug": f"open{count}"})


def finish_collections(start: int, end: int) -> None:
    """Let there be `end` finished collections where there were `start`: paid work, nothing open."""
    from collector.models import Collection, Corpus
    from tasks.models import Grant, Payment, PaymentState, Posting, PostingState, ReceiptState
    from tasks.tests.making import (
        make_collection,
        make_corpus,
        make_posting,
        make_session,
        make_worker,
        questions_for,
        stage_of,
    )
    from tasks.work import leases, submissions

    corpus = Corpus.objects.filter(slug="hollin").first() or make_corpus()
    for count in range(start, end):
        now = timezone.now() - timedelta(days=30)
        collection = make_collection(corpus, slug=f"finished{count}")
        stage = stage_of(collection, "question")
        gate = stage_of(collection, "question_qualification")
        worker = make_worker(f"DONE{count}", qualified=(gate,))
        lease = leases.claim(make_session(worker, make_posting(stage)), stage, now)
        assert lease
        work = submissions.hand_in(lease, questions_for(lease), now, synthetic=True)
        type(work).objects.filter(pk=work.pk).update(state=ReceiptState.APPROVED)
        Payment.objects.filter(collection=collection).update(state=PaymentState.CONFIRMED)
        Posting.objects.filter(stage=stage).update(state=PostingState.SETTLED)
        # The marketplace has been told; it would know nobody of them.
        Grant.objects.filter(qualification__stage=gate).update(told_state=F("state"))
        Collection.objects.filter(pk=collection.pk).update(state="finished")


def pair_late() -> float:
    """Put two people into a waiting room behind everybody's back; return how long they wait."""
    from collector.models import Collection, Stage
    from deploy.benchmarks import waiting
    from tasks.dialog.tests.making import make_dialogs
    from tasks.models import Dialog
    from tasks.tests.making import make_posting, stage_of

    talk = Collection.objects.filter(slug="talk").first()
    if talk is None:
        talk = make_dialogs(SECTIONS, budget_cents=10**8, **waiting.NOBODY)
    stage: Stage = stage_of(talk, "dialog")
    before, until = Dialog.objects.count(), time.monotonic() + LONGEST_WAIT_SECONDS
    waiting.put(stage.pk, make_posting(stage, 30, 30).pk, 2)
    while Dialog.objects.count() == before and time.monotonic() < until:
        time.sleep(0.05)
    dialog = Dialog.objects.select_related("student_ticket").latest("pk")
    return (dialog.began_at - dialog.student_ticket.waiting_since).total_seconds()


def seconds_to_decide(slug: str) -> list[float]:
    """Return for each verdict how long after its last vote it came (runs on the databases)."""
    from annotation.models import Verdict

    verdicts: Any = Verdict.objects.filter(question__stage__collection__slug=slug).exclude(
        outcome="waiting"
    )
    rows = verdicts.annotate(last=Max("question__answers__submission__received_at"))
    return [(row.decided_at - row.last).total_seconds() for row in rows if row.last]


if __name__ == "__main__":
    main()
