"""Every process is killed or hung, every service too, and the disk fills: nothing is lost."""

import contextlib
import itertools
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import psycopg2
import pytest
from django.db import connection

from tests import process_groups, services
from tests.rehearsals import part_of, restartable_services
from tests.rehearsals.deployed_processes import wait_until
from tests.rehearsals.dialog_crowds import Crowd, Plan
from tests.rehearsals.dialogs import HERE as ROWS
from tests.rehearsals.dialogs import LONG
from tests.serving import ROOT, SETTINGS, Instance
from tests.test_whole_way import SAMPLE

pytestmark = pytest.mark.django_db(transaction=True)
RECEIPTS = "tests.rehearsals.receipts"
OUTAGE_SECONDS = 6
# REHEARSAL_OUTAGES="disk|Redis" rehearses those that have one of these in their names.
CHOSEN = os.environ.get("REHEARSAL_OUTAGES", "")
# The processes of `serve`, and the workers that three of them start; each has a log of its own.
N_LOGS = 8 + 3 * 2 + 2
MOST_LINES = 20
# Each qualifies anew, so that there is always work; when all of a crowd have done theirs others
# come.
WORKERS = part_of(30)
N_DIALOGS = part_of(6)
# Work that does not move for so long after an outage has stalled.
STALLED_SECONDS = 120
# On a machine that is busy with other things.
START_UP_SECONDS = 300
# A crowd that has handed nothing in for so long makes room for the next; to begin takes a while.
QUIET_SECONDS, START_SECONDS = 25, 45
TALK = {**LONG, "dialog.grace_seconds": 3600, "dialog.ready_seconds": 3600}
# Many small HITs, and room for every newcomer to qualify: there is work to the end.
MANY = ["question.items_per_hit=1", "question.questions_per_hit=2", "answer.items_per_hit=1"]
for each in ("question_qualification", "answer_qualification"):
    MANY += [f"{each}.redundancy.{fold}=500" for fold in ("train", "dev", "test")]
CREATE = ["--protocol", "iirc", "--corpus", "read", "--budget", "20000", "--seed", "5"]
CREATE += [word for value in MANY for word in ("--set", value)]
HELD = """
SELECT count(*), coalesce(sum(reward_cents), 0) FROM marketplace_assignment WHERE state IN %s
"""
NAMES = "SELECT worker_id, display_name FROM marketplace_worker"


def ask(database: str, query: str, *parameters: object) -> list[tuple[Any, ...]]:
    """Return the rows of a query."""
    server = psycopg2.connect(database)
    with server, server.cursor() as cursor:
        cursor.execute(query, parameters or None)
        rows = cursor.fetchall()
    server.close()
    return rows


class Served:
    """A whole site as `serve` runs it, whose processes can be found by name."""

    def __init__(self, folder: Path, home: Path, database: int, redis: int) -> None:
        self.home, self.log = home, folder / "serve.log"
        self.port = services.free_port(services.SERVED)
        server = f"postgres://collector@127.0.0.1:{database}"
        restartable_services.make_databases(f"{server}/postgres", "collector", "marketplace")
        self.market = f"{server}/marketplace"
        self.environment = {
            **{name: value for name, value in os.environ.items() if name not in SETTINGS},
            "COLLECTOR_HOME": str(home),
            "DATABASE_URL": f"{server}/collector",
            "MARKETPLACE_DATABASE_URL": self.market,
            "REDIS_URL": f"redis://127.0.0.1:{redis}/0",
            "DOMAIN": "127.0.0.1",
            "PORT": str(self.port),
            "MARKETPLACE_OPEN_SIGN_IN": "yes",
            # A rehearsal may be root's; nobody else is told of it.
            "PYTHONWARNINGS": "ignore:You're running the worker with superuser",
        }
        self.environment.pop("DJANGO_SETTINGS_MODULE", None)
        self.process: subprocess.Popen[Any] | None = None
        self.talkative: list[str] = []

    def start(self) -> None:
        """Serve; returns once every part is well."""
        with self.log.open("ab") as log:
            self.process = process_groups.begin(
                [sys.executable, "manage.py", "serve"],
                env=self.environment,
                cwd=ROOT,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        assert wait_until(self.is_well, START_UP_SECONDS), self.log.read_text()[-3000:]

    def stop(self) -> None:
        """End everything."""
        if self.process:
            self.process.terminate()
            self.process.wait(timeout=60)

    def is_well(self) -> bool:
        """Return whether every part says that it does its work."""
        try:
            return httpx.get(f"http://127.0.0.1:{self.port}/health", timeout=5).status_code == 200
        except httpx.TransportError:
            return False

    def commands(self) -> dict[int, str]:
        """Return the command of each process that `serve` has started, by its id."""
        assert self.process
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        found = {}
        for pid in children.split():
            with contextlib.suppress(OSError):
                words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
                found[int(pid)] = " ".join(words)
        return {pid: command for pid, command in found.items() if "orphan_cleanup" not in command}

    def held(self, *states: str) -> tuple[int, int]:
        """Return how much work the marketplace has, and what it is worth in cents."""
        [(number, cents)] = ask(self.market, HELD, states or ("submitted", "approved"))
        return int(number), int(cents)

    def names(self) -> dict[str, str]:
        """Return how the marketplace's workers sign in, by their ids."""
        return dict(ask(self.market, NAMES))

    def turns(self) -> int:
        """Return how many questions of live dialogs are stored."""
        [(number,)] = ask(self.environment["DATABASE_URL"], "SELECT count(*) FROM tasks_turn")
        return int(number)

    def lines(self) -> list[str]:
        """Return what was said so far."""
        return self.log.read_text("utf-8").splitlines()

    def settings(self) -> dict[str, str]:
        """Return the environment for commands, as `serve` has kept it for a shell."""
        kept = shlex.split((self.home / "serve.env").read_text())
        return {**self.environment, **dict(each.split("=", 1) for each in kept)}


def test_whatever_goes_away_no_work_is_lost(tmp_path: Path) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("Outages are rehearsed on PostgreSQL: run `make rehearse`")
    with small_disk() as disk, contextlib.ExitStack() as stack:
        database = stack.enter_context(restartable_services.postgresql())
        redis = stack.enter_context(restartable_services.redis())
        site = Served(tmp_path, disk / "home", database.port, redis.port)
        stack.callback(site.stop)
        site.start()
        instance = Instance(tmp_path, site.port, site.settings())
        stack.callback(instance.close)
        prepare(instance)
        with working(site), talking(site, instance) as crowd:
            for name, outage in outages(site, database, redis, disk).items():
                suffer(site, name, outage)
        settle(site, instance)
        check_receipts(site, instance)
        check_dialogs(instance, crowd)
        assert site.talkative == []


def prepare(instance: Instance) -> None:
    instance.run("ingest_dump", str(SAMPLE), "--corpus", "read", "--licence", "CC0 1.0")
    instance.run("create_collection", "whole", *CREATE)
    instance.run("select_seeds", "whole", "--count", "110")
    instance.run("publish", "whole")


@contextlib.contextmanager
def small_disk() -> Iterator[Path]:
    """Yield a folder on a disk of its own where that can be had, so that it can be filled."""
    # Addresses of PostgreSQL's own sockets are short, and it runs as somebody else.
    disk = Path(tempfile.mkdtemp(prefix="disk-"))
    disk.chmod(0o755)
    command = ["mount", "-t", "tmpfs", "-o", "size=700m,mode=0755", "tmpfs", str(disk)]
    mounted = subprocess.run(command, capture_output=True).returncode == 0
    kept, tempfile.tempdir = tempfile.tempdir, str(disk)
    try:
        yield disk
    finally:
        tempfile.tempdir = kept
        if mounted:
            subprocess.run(["umount", "-l", str(disk)], check=False)
        shutil.rmtree(disk, ignore_errors=True)


def outages(
    site: Served,
    database: restartable_services.RunningService,
    redis: restartable_services.RunningService,
    disk: Path,
) -> dict[str, Callable[[], None]]:
    """Return what happens, by its name."""
    names = ("collector.asgi:pages", "marketplace.asgi", "collector.asgi:live", "beat")
    names += ("celery,dialogs", "--queues dialogs", "readers", "deliver_events")
    found: dict[str, Callable[[], None]] = {}
    for name in names:
        found[f"{name} killed"] = lambda name=name: strike(site, name, kill)
    for name in names[:2] + names[4:5]:
        found[f"{name} hung"] = lambda name=name: strike(site, name, hang)
    for one in (redis, database):
        found[f"{one.name} killed"] = lambda one=one: kill_and_start(one)
        found[f"{one.name} hung"] = lambda one=one: hang(one.process.pid if one.process else 0)
    if os.path.ismount(disk):
        found["disk full"] = lambda: fill(disk)
    found["serve killed"] = lambda: kill_all(site)
    return {name: outage for name, outage in found.items() if re.search(CHOSEN, name)}


def strike(site: Served, name: str, how: Callable[[int], None]) -> None:
    (pid,) = (pid for pid, command in site.commands().items() if name in command)
    how(pid)


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def hang(group: int) -> None:
    """Let a whole group of processes stand still for a while."""
    os.killpg(group, signal.SIGSTOP)
    time.sleep(OUTAGE_SECONDS)
    os.killpg(group, signal.SIGCONT)


def kill_and_start(one: restartable_services.RunningService) -> None:
    one.kill()
    time.sleep(OUTAGE_SECONDS)
    one.start()


def fill(disk: Path) -> None:
    """Leave no room on the disk for a while."""
    with (disk / "filling").open("wb") as file, contextlib.suppress(OSError):
        while True:
            file.write(b"0" * 1_000_000)
            file.flush()
    time.sleep(OUTAGE_SECONDS)
    (disk / "filling").unlink()


def kill_all(site: Served) -> None:
    """Kill the supervisor: nobody is left of its processes; another one goes on."""
    left = list(site.commands())
    assert site.process
    site.process.kill()
    site.process.wait()
    site.start()
    assert not [pid for pid in left if Path(f"/proc/{pid}").exists()]


def suffer(site: Served, name: str, outage: Callable[[], None]) -> None:
    """Let it happen; every part is well again soon, and little was said."""
    before, began = len(site.lines()), time.monotonic()
    outage()
    assert wait_until(site.is_well, 90), f"{name}: {site.lines()[before:][-40:]}"
    well, (hits, turns) = time.monotonic(), (site.held()[0], site.turns())
    # What is over is said a little later.
    time.sleep(OUTAGE_SECONDS)

    def moves() -> bool:
        return site.held()[0] > hits and site.turns() > turns

    moved = wait_until(moves, STALLED_SECONDS)
    said = site.lines()[before:]
    print(
        f"{name}: well again after {well - began:.0f} s, moving after "
        f"{time.monotonic() - well:.0f} s, {len(said)} lines; {hits} then {site.held()[0]} HITs, "
        f"{turns} then {site.turns()} turns",
        flush=True,
    )
    assert moved, f"{name}: the work stands still"
    tracebacks = [line for line in said if line.startswith("Traceback")]
    # The processes of `serve` share a log, so each has twenty lines of what hits them all.
    most = MOST_LINES * (N_LOGS if "PostgreSQL" in name or "Redis" in name else 1)
    if tracebacks or len(said) >= most:
        print("\n".join(said[:100]), flush=True)
        site.talkative.append(name)


@contextlib.contextmanager
def working(site: Served) -> Iterator[None]:
    """Have people work meanwhile, who come again whatever stops them.

    Two crowds take turns: one is at work while the other ends and its next begins. One that has
    done its work waits long for what somebody killed half-way has left: others come before that.
    """
    over, seeds = threading.Event(), itertools.count(1)
    command = [sys.executable, "manage.py", "simulate", "whole", "--workers", str(WORKERS)]

    def held_now() -> int:
        try:
            return site.held()[0]
        except psycopg2.Error:
            return -1

    def work() -> None:
        while not over.is_set():
            crowd = process_groups.begin(
                [*command, "--inspect", "--seed", str(next(seeds))],
                env=site.settings(),
                cwd=ROOT,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            held, since = held_now(), time.monotonic() + START_SECONDS
            while crowd.poll() is None and not over.wait(1):
                if held != (held := held_now()):
                    since = time.monotonic()
                if time.monotonic() - since > QUIET_SECONDS:
                    break
            # Whoever is handing in does so to the end.
            crowd.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                crowd.wait(timeout=45)
            process_groups.end(crowd)

    crowds = [threading.Thread(target=work) for _ in range(2)]
    for crowd in crowds:
        crowd.start()
    try:
        yield
    finally:
        over.set()
        for crowd in crowds:
            crowd.join(timeout=120)


@contextlib.contextmanager
def talking(site: Served, instance: Instance) -> Iterator[Crowd]:
    """Have pairs talk meanwhile, who connect again whenever they are cut off."""
    tokens = instance.call(f"{ROWS}:lay_out", 2 * N_DIALOGS, N_DIALOGS + 2, TALK)
    instance.call(f"{ROWS}:leave_to_sockets", "talk")
    address = f"ws://127.0.0.1:{site.port + 2}/hit/socket"
    plan = Plan(address, site.settings()["COLLECTOR_URL"], every_seconds=2.0, seed=5)
    crowd = Crowd(instance, tokens, plan)
    try:
        assert wait_until(lambda: site.turns() > N_DIALOGS, 60), "nobody talks"
        yield crowd
    finally:
        crowd.close_pages()


def check_dialogs(instance: Instance, crowd: Crowd) -> None:
    """What a page was told is taken is stored, once, and nobody was sent away."""
    seen, stored = crowd.seen(), instance.call(f"{ROWS}:messages")
    taken = [message for one in seen for message in one["taken"]]
    print(f"{len(taken)} moves of dialogs were said to be taken, {len(stored)} are stored")
    assert len(taken) == len(set(taken)) > 0
    assert len(stored) == len(set(stored))
    assert set(taken) <= set(stored), f"{len(set(taken) - set(stored))} moves were lost"
    assert not any(one["error"] for one in seen), {one["error"] for one in seen}


def settle(site: Served, instance: Instance) -> None:
    """Wait until the marketplace has all that was handed in but the receipts that were cut off."""

    def found() -> tuple[dict[str, int], tuple[int, int]]:
        ours = instance.call("tests.rehearsals.test_crowd:ledger", "whole")
        return ours, site.held()

    def is_even() -> bool:
        ours, (number, _) = found()
        arrived = ours["submissions"] - ours["held"]
        return ours["submissions"] == ours["rewards"] and arrived == number

    even = wait_until(is_even, 120)
    ours, theirs = found()
    print(json.dumps(ours), theirs, flush=True)
    assert even, (ours, theirs)
    assert ours["submissions"] == ours["rewards"] == ours["leases"] > 0
    assert ours["spent_cents"] == ours["ledger_cents"] >= theirs[1] > 0
    assert ours["overbooked"] == 0


def check_receipts(site: Served, instance: Instance) -> None:
    """A receipt that was cut off is sent by whoever comes back; all others are paid by a HIT.

    Each is paid once, and then both ledgers are equal to the cent.
    """
    before = instance.call(f"{RECEIPTS}:held", "whole")
    for name in ("Who comes back", "Who stays away"):
        instance.call(f"{RECEIPTS}:cut_off", "whole", "question_qualification", name)
    assert instance.call(f"{RECEIPTS}:held", "whole") == before + 2
    assert instance.call(f"{RECEIPTS}:come_back", "Who comes back") == "submitted"
    done = wait_until(lambda: instance.call(f"{RECEIPTS}:held", "whole") == before + 1, 60)
    assert done, "a receipt that was sent again is not confirmed"
    # Their HITs are over then, and what came in is approved.
    did = instance.call(f"{RECEIPTS}:pass_days", "whole", 3)
    assert did["lost receipts"] == before + 1
    n_hits = instance.call(f"{RECEIPTS}:collect", "whole", site.names())
    assert n_hits >= before + 1
    instance.call(f"{RECEIPTS}:pass_days", "whole", 3)
    assert instance.call(f"{RECEIPTS}:collect", "whole", site.names()) == 0
    ours, theirs = instance.call(f"{RECEIPTS}:ledger", "whole"), site.held("approved")
    print(f"{before} receipts cut off by outages, then: {json.dumps(ours)} {theirs}", flush=True)
    assert (ours["number"], ours["cents"]) == theirs == site.held()
    assert ours["paid_once"] == ours["submissions"]
    assert ours["rerouted"] == before + 1
    assert ours["open"] == 0
    assert instance.call(f"{RECEIPTS}:held", "whole") == 0
