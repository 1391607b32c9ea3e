"""Every process is killed or hung, every service too, the clock is set and the disk fills.

Nothing is lost, nobody is paid twice, each process says little, and all work moves again at once.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from django.db import connection

from tests import process_groups
from tests.rehearsals import restartable_services
from tests.rehearsals.core_waits import core_times, stretch
from tests.rehearsals.deployed_processes import wait_until
from tests.rehearsals.dialogs import HERE as ROWS
from tests.rehearsals.progress import KINDS, Watch
from tests.rehearsals.requester_page import Requester
from tests.rehearsals.served_site import Served, SteppedClock, ask
from tests.rehearsals.small_disk import small_disk
from tests.rehearsals.talkers import Talkers
from tests.serving import ROOT, Instance
from tests.test_whole_way import SAMPLE

pytestmark = pytest.mark.django_db(transaction=True)
RECEIPTS = "tests.rehearsals.receipts"
LEDGER = "tests.rehearsals.test_crowd:ledger"
BOOKS = sorted(str(path) for path in (ROOT / "deploy/sample/books").iterdir() if path.is_file())
# How long each service is away.
REDIS_SECONDS, DATABASE_SECONDS, MARKET_SECONDS = 60, 20, 60
CLOCK_SECONDS, DISK_SECONDS, OUTAGE_SECONDS = 20, 20, 6
HOUR = 3600
# REHEARSAL_OUTAGES="disk|Redis" rehearses those that have one of these in their names.
CHOSEN = os.environ.get("REHEARSAL_OUTAGES", "")
MOST_LINES = 20
# All work moves within this once what was away is back, and the longest pause that it had without
# any fault: people take their time, and what the jobs do comes in rounds.
BACK_SECONDS = 5.0
JOBS = ("HITs", "decisions", "payments")
NOTHING, QUIET_SECONDS = "nothing", 20
# Work that does not move for so long after an outage has stalled, be the machine ever so busy.
STALLED_SECONDS = 300
# What is over is said by each process when it asks again.
SAID_SECONDS = 15
# Many small HITs, and room for every newcomer to qualify: there is work to the end.
FOLDS = ("train", "dev", "test")
MANY = ["question.items_per_hit=1", "question.questions_per_hit=2", "answer.items_per_hit=1"]
MANY += ["pay.approve_after_hours=0"]
for each in ("question_qualification", "answer_qualification"):
    MANY += [f"{each}.items_per_hit=1", *(f"{each}.redundancy.{fold}=500" for fold in FOLDS)]
MANY_BOOKS = ["pay.approve_after_hours=0", *(f"question.redundancy.{fold}=600" for fold in FOLDS)]
COLLECTIONS = ("whole", "books")
HANDED_IN = """
SELECT display_name, marketplace_hit.hit_id FROM marketplace_assignment
JOIN marketplace_hit ON marketplace_hit.id = marketplace_assignment.hit_id
JOIN marketplace_worker ON marketplace_worker.id = marketplace_assignment.worker_id
WHERE marketplace_assignment.state IN ('submitted', 'approved')
"""


@dataclass
class Outcome:
    """What came of one fault; `moved`: after how many seconds each kind of work moved again.

    stretch: how many times as long all took meanwhile as on a machine with cores to spare.
    """

    name: str
    moved: dict[str, float]
    pauses: dict[str, float]
    stretch: float
    lines: dict[str, list[str]]
    unwell: list[str]
    pages: list[str]

    @property
    def is_talkative(self) -> bool:
        """Return whether a process said too much, or an error of ours."""
        return any(
            len(lines) >= MOST_LINES or any(line.startswith("Traceback") for line in lines)
            for lines in self.lines.values()
        )

    def is_slow(self, usual: "Outcome") -> bool:
        """Return whether work came late; usual: what came of nothing."""
        late = BACK_SECONDS * self.stretch
        longer = max(1.0, self.stretch / usual.stretch)
        first = min(self.moved[kind] for kind in JOBS)
        return first > longer * min(usual.pauses[kind] for kind in JOBS) + late or any(
            self.moved[kind] > longer * usual.pauses[kind] + late for kind in KINDS
        )


def test_whatever_goes_away_no_work_is_lost(tmp_path: Path) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("Outages are rehearsed on PostgreSQL: run `make rehearse`")
    with small_disk() as disk, contextlib.ExitStack() as stack:
        clock = SteppedClock(disk)
        database = stack.enter_context(restartable_services.postgresql(clock.environment))
        redis = stack.enter_context(restartable_services.redis(clock.environment))
        site = Served(
            tmp_path / "logs", disk / "home", database.port, redis.port, clock.environment
        )
        stack.callback(site.stop)
        site.start()
        instance = Instance(tmp_path, site.port, site.settings())
        stack.callback(instance.close)
        prepare(instance)
        talkers = Talkers(site, instance)
        requester = Requester(instance, site.settings()["COLLECTOR_URL"], COLLECTIONS[0])
        faults = outages(site, database, redis, disk, clock, requester)
        with working(site) as taken, talkers.talking():
            watch = Watch(
                site.environment["DATABASE_URL"],
                site.settings()["COLLECTOR_URL"],
                site.settings()["MARKETPLACE_URL"],
            )
            stack.callback(watch.close)
            assert watch.wait_for_all(time.monotonic(), STALLED_SECONDS).keys() == set(KINDS)
            outcomes = [
                suffer(site, watch, talkers, name, outage) for name, outage in faults.items()
            ]
            watch.close()
        print(table(outcomes), *requester.check(), sep="\n", flush=True)
        settle(site, instance)
        check_taken(site, taken)
        check_receipts(site, instance)
        check_dialogs(instance, talkers)
        assert [one.name for one in outcomes if one.moved.keys() != set(KINDS)] == []
        assert [one.name for one in outcomes if one.is_talkative] == []
        assert [one.name for one in outcomes if one.is_slow(outcomes[0])] == []


def prepare(instance: Instance) -> None:
    """Open a collection on articles and one on books."""

    def create(slug: str, protocol: str, corpus: str, changed: list[str], seeds: int) -> None:
        words = ["--protocol", protocol, "--corpus", corpus, "--budget", "90000", "--seed", "5"]
        words += [word for value in changed for word in ("--set", value)]
        instance.run("create_collection", slug, *words)
        instance.run("select_seeds", slug, "--count", f"{seeds}")
        instance.run("publish", slug)

    instance.run("ingest_dump", str(SAMPLE), "--corpus", "read", "--licence", "CC0 1.0")
    instance.run("ingest_books", *BOOKS, "--corpus", "stories", "--licence", "CC0 1.0")
    create("whole", "iirc", "read", MANY, 110)
    create("books", "bookqa", "stories", MANY_BOOKS, 3)


def outages(
    site: Served,
    database: restartable_services.RunningService,
    redis: restartable_services.RunningService,
    disk: Path,
    clock: SteppedClock,
    requester: Requester,
) -> dict[str, Callable[[], None]]:
    """Return what happens, by its name; each ends when what was away is back."""
    found: dict[str, Callable[[], None]] = {
        NOTHING: lambda: time.sleep(QUIET_SECONDS),
        f"Redis stopped for {REDIS_SECONDS} s": lambda: hang(
            group_of(redis), seconds=REDIS_SECONDS
        ),
        f"Redis killed for {REDIS_SECONDS} s": lambda: kill_and_start(redis, REDIS_SECONDS),
        # What was sent first is stored once it goes on, and then comes again.
        f"PostgreSQL stopped for {DATABASE_SECONDS} s": requester.editing("Edited while it stood.")(
            lambda: hang(group_of(database), seconds=DATABASE_SECONDS)
        ),
        f"PostgreSQL killed for {OUTAGE_SECONDS} s": requester.editing("Edited without it.")(
            lambda: kill_and_start(database, OUTAGE_SECONDS)
        ),
        f"the marketplace stopped for {MARKET_SECONDS} s": lambda: hang(
            *(pid for pid, command in site.commands().items() if "marketplace" in command),
            seconds=MARKET_SECONDS,
        ),
    }
    if clock.environment:
        found["the clock an hour ahead"] = lambda: step(clock, HOUR)
        found["the clock right again after an hour ahead"] = lambda: step(clock, 0)
        found["the clock an hour behind"] = lambda: step(clock, -HOUR)
        found["the clock right again after an hour behind"] = lambda: step(clock, 0)
    if os.path.ismount(disk):
        found[f"the disk full for {DISK_SECONDS} s"] = lambda: fill(disk)
    names: tuple[str, ...] = (
        "collector.asgi:pages",
        "marketplace.asgi",
        "collector.asgi:live",
        "beat",
    )
    names += ("celery,dialogs", "--queues dialogs", "readers", "deliver_events")
    for name in names:
        found[f"{name} killed"] = partial(site.replace, name)
    for name in names[:2] + names[4:5]:
        found[f"{name} hung"] = partial(site.strike, name, partial(hang, seconds=OUTAGE_SECONDS))
    found["serve killed"] = lambda: kill_all(site)
    return {
        name: outage for name, outage in found.items() if re.search(CHOSEN, name) or name == NOTHING
    }


def group_of(one: restartable_services.RunningService) -> int:
    assert one.process
    return one.process.pid


def hang(*pids: int, seconds: int) -> None:
    """Let processes stand still for a while, with all that they have started."""
    # Those of PostgreSQL are each a group of their own; whoever is stopped starts no more.
    for pid in pids:
        tell_family(pid, signal.SIGSTOP)
    time.sleep(seconds)
    for pid in pids:
        tell_family(pid, signal.SIGCONT)


def tell_family(pid: int, what: signal.Signals) -> None:
    """Send a signal to a process, and then to all that it has started."""
    for one in process_groups.family(pid):
        with contextlib.suppress(OSError):
            os.kill(one, what)


def kill_and_start(one: restartable_services.RunningService, seconds: int) -> None:
    one.kill()
    time.sleep(seconds)
    one.start()


def step(clock: SteppedClock, seconds: int) -> None:
    """Set the clock; nothing is away, so that all work goes on at once."""
    clock.set_ahead(seconds)


def fill(disk: Path) -> None:
    """Leave no room on the disk for a while."""
    with contextlib.suppress(OSError), (disk / "filling").open("wb") as file:
        while True:
            file.write(b"0" * 1_000_000)
            file.flush()
    time.sleep(DISK_SECONDS)
    (disk / "filling").unlink()


def kill_all(site: Served) -> None:
    """Kill the supervisor: nobody is left of its processes; another one goes on."""
    left = list(site.commands())
    assert site.process
    site.process.kill()
    site.process.wait()
    site.start()
    assert not [pid for pid in left if Path(f"/proc/{pid}").exists()]


def suffer(
    site: Served, watch: Watch, talkers: Talkers, name: str, outage: Callable[[], None]
) -> Outcome:
    """Let it happen, and return how soon all work moved again, and how little was said."""
    before, began = site.lines_before(), time.monotonic()
    with contextlib.ExitStack() as stack:
        unwell = stack.enter_context(asking_for_health(site))
        talkers.come()
        outage()
        back, times = time.monotonic(), core_times()
    talkers.come()
    moved = watch.wait_for_all(back, STALLED_SECONDS)
    stretched = stretch(times, core_times())
    time.sleep(SAID_SECONDS)
    assert wait_until(site.is_well), f"{name}: {site.health()}"
    well = time.monotonic() - back
    outcome = Outcome(
        name,
        moved,
        watch.moves.longest_pauses(began, back),
        stretched,
        site.said(before),
        sorted(unwell),
        watch.pages_between(began, back),
    )
    print(
        f"{name}: {back - began:.0f} s; {_seconds(moved)}; "
        f"{stretched:.1f} times as long as with cores to spare; well after at most {well:.0f} s; "
        f"longest pauses meanwhile {_seconds(outcome.pauses)}; unwell {outcome.unwell}; pages "
        f"{outcome.pages}; lines { {one: len(said) for one, said in outcome.lines.items()} }",
        flush=True,
    )
    for one, said in outcome.lines.items():
        print(*(f"    {one}: {line[:220]}" for line in said[:25]), sep="\n", flush=True)
    return outcome


@contextlib.contextmanager
def asking_for_health(site: Served) -> Iterator[set[str]]:
    """Ask all the while; yield the parts that are not well, "no answer" where nobody says so."""
    unwell, over = set[str](), threading.Event()

    def look() -> None:
        while not over.wait(1):
            health = site.health()
            unwell.update([part for part, well in health.items() if not well])
            if not health:
                unwell.add("no answer")

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield unwell
    finally:
        over.set()
        thread.join()


def _seconds(times: dict[str, float]) -> str:
    return ", ".join(f"{kind} {seconds:.1f}" for kind, seconds in times.items())


def table(outcomes: list[Outcome]) -> str:
    """Return the faults and what came of them, as the manual has them."""
    heads = ["fault", *KINDS, "stretch", "most lines a process"]
    rows = [f"| {' | '.join(heads)} |", f"| --- |{' --: |' * (len(heads) - 1)}"]
    for one in outcomes:
        moved = [f"{one.moved[kind]:.1f}" if kind in one.moved else "never" for kind in KINDS]
        most = max(map(len, one.lines.values()), default=0)
        rows.append(f"| {' | '.join([one.name, *moved, f'{one.stretch:.1f}', str(most)])} |")
    return "\n".join(rows)


@contextlib.contextmanager
def working(site: Served) -> Iterator[list[tuple[str, str]]]:
    """Have people work meanwhile; yield what they were told is taken, filled when they are gone."""
    taken: list[tuple[str, str]] = []
    with (site.logs.parent / "workers.txt").open("ab") as log:
        crowd = process_groups.begin(
            [sys.executable, "-m", "tests.rehearsals.steady_crowds", '[["whole"], ["books"], 5]'],
            env={**site.settings(), "DJANGO_SETTINGS_MODULE": "collector.settings"},
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    try:
        yield taken
        crowd.send_signal(signal.SIGTERM)
        said, _ = crowd.communicate(timeout=120)
        taken += [(name, hit) for name, hit in json.loads(said)]
    finally:
        process_groups.end(crowd)


def check_taken(site: Served, taken: list[tuple[str, str]]) -> None:
    """What the marketplace's page said is handed in is there."""
    kept = {(name, hit) for name, hit in ask(site.market, HANDED_IN)}
    print(f"{len(taken)} HITs were said to be handed in, {len(kept)} are", flush=True)
    assert len(taken) == len(set(taken)) > 0
    assert set(taken) <= kept, set(taken) - kept


def check_dialogs(instance: Instance, talkers: Talkers) -> None:
    """What a page was told is taken is stored, once, and nobody was sent away."""
    seen = talkers.seen()
    stored = instance.call(f"{ROWS}:messages")
    taken = [message for one in seen for message in one["taken"]]
    print(f"{len(taken)} moves of dialogs were said to be taken, {len(stored)} are stored")
    assert len(taken) == len(set(taken)) > 0
    assert len(stored) == len(set(stored))
    assert set(taken) <= set(stored), f"{len(set(taken) - set(stored))} moves were lost"
    assert not any(one["error"] for one in seen), {one["error"] for one in seen}


def settle(site: Served, instance: Instance) -> None:
    """Wait until the marketplace has all that was handed in but the receipts that were cut off."""

    def found() -> tuple[Counter[str], tuple[int, int]]:
        ours = Counter[str]()
        for slug in COLLECTIONS:
            ours.update(instance.call(LEDGER, slug))
        return ours, site.held()

    def is_even() -> bool:
        ours, (number, _) = found()
        return ours["leases"] == ours["rewards"] and ours["leases"] - ours["held"] == number

    even = wait_until(is_even)
    ours, theirs = found()
    print(json.dumps(ours), theirs, flush=True)
    assert even, (ours, theirs)
    assert ours["rewards"] == ours["leases"] > 0
    assert ours["spent_cents"] == ours["ledger_cents"] >= theirs[1] > 0
    assert ours["overbooked"] == 0


def check_receipts(site: Served, instance: Instance) -> None:
    """A receipt that was cut off is sent by whoever comes back; all others are paid by a HIT.

    Each is paid once, and then both ledgers are equal to the cent.
    """

    def call(name: str, *arguments: object) -> Counter[str]:
        ours = Counter[str]()
        for slug in COLLECTIONS:
            found = instance.call(f"{RECEIPTS}:{name}", slug, *arguments)
            ours.update(found if isinstance(found, dict) else {"number": found})
        return ours

    before = call("held")["number"]
    for name in ("Who comes back", "Who stays away"):
        instance.call(f"{RECEIPTS}:cut_off", "whole", "question_qualification", name)
    assert call("held")["number"] == before + 2
    assert instance.call(f"{RECEIPTS}:come_back", "Who comes back") == "submitted"
    done = wait_until(lambda: call("held")["number"] == before + 1)
    assert done, "a receipt that was sent again is not confirmed"
    # Their HITs are over then, and what came in is approved.
    assert call("pass_days", 3)["lost receipts"] == before + 1
    assert call("collect", site.names())["number"] >= before + 1
    call("pass_days", 3)
    assert call("collect", site.names())["number"] == 0
    ours, theirs = call("ledger"), site.held("approved")
    print(f"{before} receipts cut off by outages, then: {json.dumps(ours)} {theirs}", flush=True)
    assert (ours["number"], ours["cents"]) == theirs == site.held()
    assert ours["paid_once"] == ours["submissions"]
    assert ours["rerouted"] == before + 1
    assert ours["open"] == 0
    assert call("held")["number"] == 0
