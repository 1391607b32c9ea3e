"""Real processes on PostgreSQL, and threads of people who do the same acts there in real time.

    .venv/bin/python -m tests.simulator.threads --protocol squad --seconds 300 --seed 7

The site is what `serve` runs: two processes of the pages, of the marketplace, of sockets and of the
jobs each. Requests go over the network, several at a time, by people who sit at several browsers.
When all acts are done the processes' clocks are set ahead, hour by hour, until everything has come
to rest; then the same must be true as of a simulated life.

Left out, since they are the simulator's own: jobs that are begun, cut off or not heard by an act;
Redis that goes (see tests/rehearsals/test_outages.py); days of waiting between acts; what is
compared before and after an act, for others act meanwhile.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.cookies import SimpleCookie
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import urllib3
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.simulator.acts import Acts
from tests.simulator.life import JOBS, WEBS, Life
from tests.simulator.machine import TIME
from tests.simulator.processes import Reply, through
from tests.simulator.rows import rows_by_table
from tests.simulator.truths import Truths
from tests.simulator.worlds import PROTOCOLS, begin

if TYPE_CHECKING:
    from tests.rehearsals.served_site import Served

THREADS = 4
LEFT_OUT = {"crowd", "jobs", "jobs_die", "jobs_interrupted", "jobs_unheard", "rest", "wait"}
LEFT_OUT |= {"redis", "decide_beside", "preview"}
# What could be said for certain if nobody else acted.
SAID_BY_ONE = re.compile("drafts: the only tab|ListHITs: nothing")
LONGEST_WAIT_SECONDS = 1.0
# Nothing has changed for so long: all that is due is done.
REST_SECONDS, MOST_SECONDS = 12, 240
HOURS = (0, 1.5, 1.5, 6.5, 30, 200)
BROKEN = re.compile(r"^Traceback|\bERROR\b|CRITICAL|^\w[\w.]*(Error|Exception)\b")
# By which names the clients of tests keep the tokens of the two sites, and what they send for one.
TOKEN = re.compile(r"(?:csrftoken|marketplace_csrf)=(\w+)")
MADE_UP = 32 * "s"
# Of a reply that was read whole.
KEPT = {"content-type", "location"}
POOL = urllib3.PoolManager(maxsize=2 * THREADS)
# Whose requests a thread sends.
HERE = threading.local()
DEADLOCKS = "SELECT coalesce(sum(deadlocks), 0) FROM pg_stat_database"


@contextmanager
def site_alone() -> Iterator["Served"]:
    """Yield a site without rows, with services of its own, whose clock can be set."""
    from tests import services
    from tests.rehearsals import restartable_services
    from tests.rehearsals.served_site import Served, SteppedClock

    with (
        tempfile.TemporaryDirectory() as folder,
        restartable_services.postgresql() as database,
        restartable_services.redis() as redis,
    ):
        home = Path(folder)
        clock = SteppedClock(home)
        if not clock.environment:
            raise services.Missing("A C compiler is missing, for clocks that are set ahead.")
        site = Served(home / "logs", home, database.port, redis.port, clock.environment)
        try:
            site.start()
            yield site
        finally:
            site.stop()


def lived(
    site: "Served", protocol: str, seed: int, seconds: float, *, show: bool = False
) -> list[str]:
    """Return what was found of one collection on a site that has just started."""
    from tests.rehearsals.served_site import ask

    before = site.lines_before()
    found = _people(site, protocol=protocol, seed=seed, seconds=seconds, show=show)
    [(n_deadlocks,)] = ask(site.environment["DATABASE_URL"], DEADLOCKS)
    if n_deadlocks:
        found.append(f"{n_deadlocks} deadlocks")
    for name, lines in site.said(before).items():
        wrong = [at for at, line in enumerate(lines) if BROKEN.search(line)]
        found += [f"{name} said: {lines[at]}" for at in wrong]
        if wrong:
            print(name, *lines[max(0, wrong[0] - 2) : wrong[0] + 60], sep="\n  ")
    return list(dict.fromkeys(found))


def _people(site: "Served", **about: Any) -> list[str]:
    """Let people act, in a process that has the site's databases and its clock."""
    answer = site.home / "found.json"
    given = {**about, "port": site.port, "settings": site.settings(), "answer": str(answer)}
    command = [sys.executable, "-m", "tests.simulator.threads", "--people", json.dumps(given)]
    # One process that has both databases, as on a laptop: what is said goes by the network.
    kept = {name: value for name, value in site.environment.items() if "MARKETPLACE" not in name}
    kept["MARKETPLACE_DATABASE_URL"] = site.market
    done = subprocess.run(command, env={**kept, "DJANGO_SETTINGS_MODULE": "collector.settings"})
    return list(json.loads(answer.read_text())) if not done.returncode else ["the people failed"]


# --- In the process of the people ----------------------------------------------------------------
def people(given: dict[str, Any]) -> None:
    """Act until the time is over, wait until all is quiet, and write down what is not true."""
    import django

    django.setup()
    from django.conf import settings
    from django.utils import timezone

    from marketplace.tests.boto import HOST

    settings.HOST_URLCONFS.update({"localhost": "collector.urls", HOST: "marketplace.urls"})
    settings.ALLOWED_HOSTS.append("testserver")
    settings.MTURK_ENDPOINT_URL = f"http://127.0.0.1:{given['port'] + 1}"
    TIME.now = timezone.now  # type: ignore[method-assign]
    TIME.advance = lambda seconds: time.sleep(  # type: ignore[method-assign]
        min(max(seconds, 0.0), LONGEST_WAIT_SECONDS)
    )
    through(lambda *request: HERE.life.serve(*request))
    begin()
    Path(given["answer"]).write_text(json.dumps(Crowd(given).live()))


class RealLife(Life):
    """A thread's life on a site whose processes nobody drives; `first` has its collection."""

    def __init__(self, given: dict[str, Any], number: int, first: "RealLife | None") -> None:
        self.given, self.first = given, first
        self.lines: dict[int, Any] = {}
        HERE.life = self
        home = Path(given["settings"]["COLLECTOR_HOME"])
        super().__init__(given["protocol"], given["seed"] + 100_000 * number, home)
        if first:
            self.said, self.seen, self.counted = first.said, first.seen, first.counted

    def begin_site(self) -> Any:
        """Return the real processes as far as acts know them."""
        idle = {name: SimpleNamespace(is_busy=False) for name in (*WEBS, *JOBS)}
        return SimpleNamespace(processes=idle, errors=[], answers={}, can_bear=False)

    def create(self, also: dict[str, Any] | None) -> Any:
        """Return the collection; in it time runs out within minutes, while others act."""
        from collector.models import Collection
        from collector.protocols.loading import get_protocol

        if self.first:
            return Collection.objects.get(pk=self.first.collection.pk)
        tables = get_protocol(self.protocol).parameters({}).stages()
        # Those of a dialog must cover the longest wait.
        hits = [name for name, table in tables.items() if table.kind != "dialog"]
        brief = {f"{name}.{each}_minutes": 2 for name in hits for each in ("expected", "allotted")}
        return super().create(brief)

    def ask(self, process: str, command: str, *given: Any, trouble: Any = None) -> Any:
        """Return what the site answers."""
        return getattr(self, f"_{command}")(*given)

    def round(self, process: str, trouble: Any = None) -> str:
        """Leave the jobs to their processes."""
        return process

    def _page(self, environ: dict[str, str], body: bytes, enforce_csrf: bool) -> Reply:
        named = {name: value for name, value in environ.items() if name.startswith("HTTP_")}
        headers = {name[5:].replace("_", "-").title(): value for name, value in named.items()}
        headers |= {"Host": "127.0.0.1", "Content-Type": environ.get("CONTENT_TYPE", "")}
        if not enforce_csrf:
            cookies = headers.setdefault("Cookie", "")
            known = TOKEN.search(cookies)
            headers["X-Csrftoken"] = known[1] if known else MADE_UP
            if not known:
                made_up = f"csrftoken={MADE_UP}; marketplace_csrf={MADE_UP}"
                headers["Cookie"] = f"{cookies}; {made_up}" if cookies else made_up
        port = self.given["port"] + (environ.get("HTTP_HOST", "localhost") != "localhost")
        path = quote(environ["PATH_INFO"], safe="/:@!$&'()*+,;=", encoding="latin-1")
        query = environ.get("QUERY_STRING", "")
        reply = POOL.request(
            environ["REQUEST_METHOD"],
            f"http://127.0.0.1:{port}{path}" + (f"?{query}" if query else ""),
            body=body,
            headers=headers,
            redirect=False,
            retries=False,
            timeout=60,
        )
        left: SimpleCookie = SimpleCookie()
        for line in reply.headers.getlist("Set-Cookie"):
            left.load(line)
        kept = [each for each in reply.headers.items() if each[0].lower() in KEPT]
        return Reply(reply.status, reply.reason or "", kept, left, reply.data)

    def _command(self, name: str, *words: str) -> str:
        own = {**os.environ, **self.given["settings"]}
        own.pop("DJANGO_SETTINGS_MODULE")
        command = [sys.executable, "manage.py", name, *words]
        done = subprocess.run(command, env=own, capture_output=True, text=True)
        if "Traceback" in done.stderr:
            self.said.faults.append(f"{name}: {done.stderr.strip().splitlines()[-1]}")
        return done.stdout

    # The sockets of dialogs.
    def _open_socket(self, number: int) -> None:
        origin = self.given["settings"]["COLLECTOR_URL"]
        address = f"ws://127.0.0.1:{self.given['port'] + 2}/hit/socket"
        self.lines[number] = connect(address, origin=origin, legacy=False).__enter__()

    def _cut_socket(self, number: int) -> None:
        if line := self.lines.pop(number, None):
            line.close()

    def _say(self, number: int, text: str) -> None:
        with suppress(ConnectionClosed, KeyError):
            self.lines[number].send(text)

    def _settle(self) -> list[Any]:
        heard: list[Any] = []
        for number, line in list(self.lines.items()):
            try:
                while True:
                    text = line.recv(timeout=0)
                    heard.append((number, {"type": "websocket.send", "text": text}))
            except TimeoutError:
                continue
            except ConnectionClosed:
                del self.lines[number]
                heard.append((number, {"type": "websocket.close"}))
        self.seen["a message to a dialog"] += len(heard)
        return heard


class ThreadedActs(Acts):
    """The same acts; what is compared before and after one is left out, for others act too."""

    WEIGHTS = {name: often for name, often in Acts.WEIGHTS.items() if name not in LEFT_OUT}
    # There is no crowd: everybody is one of the threads.
    WEIGHTS |= {"work": 40, "talk": 40, "let_in": 10}

    def _again(self, form: Any) -> int:
        return int(form.send().status_code)


class Crowd:
    """Several threads of people, who act on one collection."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.given = given
        self.found: list[str] = []
        self.told: list[str] = []
        self.stumbled: Counter[str] = Counter()

    def live(self) -> list[str]:
        """Return what was not true."""
        first = RealLife(self.given, 0, None)
        truths = Truths(first)
        until = time.monotonic() + self.given["seconds"]
        threads = [
            threading.Thread(target=self._act, args=(number, first, until))
            for number in range(THREADS)
        ]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            time.sleep(1)
            self._note(truths.always())
        for hours in HOURS:
            self._step(hours)
            self._note(truths.always())
        self._note(truths.quiet())
        if self.found or self.given["show"]:
            print(*self.told, sep="\n")
        print(
            f"{self.given['protocol']} {self.given['seed']}: {first.counted.total()} acts, ",
            f"{len(first.said.submitted)} handed in, {first.seen['a release']} released, ",
            f"{first.seen['a message to a dialog']} messages, ",
            f"found {self.found}, stumbled {dict(self.stumbled.most_common(12))}",
            sep="",
            flush=True,
        )
        return self.found

    def _note(self, found: Iterator[str]) -> None:
        new = [one for one in found if not SAID_BY_ONE.match(one) and one not in self.found]
        self.found += new
        self.told += [f"!!! {one}" for one in new]

    def _act(self, number: int, first: RealLife, until: float) -> None:
        """Act, one thing after another; who is overtaken by another does something else."""
        from django.db import connections

        life = RealLife(self.given, number, first)
        acts, rng = ThreadedActs(life), random.Random(f"{self.given['seed']}:{number}")
        names, often = [*acts.WEIGHTS], [*acts.WEIGHTS.values()]
        name = "publish"
        while time.monotonic() < until:
            life.rng = random.Random(rng.random())
            life.counted[name] += 1
            try:
                told = getattr(acts, name)()
            except Exception as error:
                told = f"stumbled: {type(error).__name__} {error!s:.60}"
                self.stumbled[f"{name} {told}"] += 1
            self.told.append(f"{TIME.now():%H:%M:%S} {number} {name}: {told}")
            [name] = rng.choices(names, often)
        connections.close_all()

    def _step(self, hours: float) -> None:
        """Set every clock ahead, and wait until nothing changes any more."""
        with Path(os.environ["CLOCK_AHEAD"]).open("r+b") as file:
            ahead = int.from_bytes(file.read(8), sys.byteorder, signed=True)
            file.seek(0)
            file.write((ahead + int(hours * 3600)).to_bytes(8, sys.byteorder, signed=True))
        until, before, since = time.monotonic() + MOST_SECONDS, {}, time.monotonic()
        while time.monotonic() < until and time.monotonic() - since < REST_SECONDS:
            time.sleep(1)
            now = rows_by_table()
            # When the jobs look next is written there again and again.
            del now["default.collector_collection"]
            if now != before:
                before, since = now, time.monotonic()


def main() -> int:
    """Return 0 when nothing was found."""
    parser = argparse.ArgumentParser(prog="tests.simulator.threads", description=__doc__)
    parser.add_argument("--protocol", default="", help="one or more, by commas; else all six")
    parser.add_argument("--seconds", type=float, default=1800, help="of acts, in all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="print every act")
    parser.add_argument("--people", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.people:
        people(json.loads(given.people))
        return 0
    names = given.protocol.split(",") if given.protocol else [*PROTOCOLS]
    n_found = 0
    for name in names:
        seconds = given.seconds / len(names)
        with site_alone() as site:
            for found in lived(site, name, given.seed, seconds, show=given.show):
                print(f"{name} {given.seed}: {found}", flush=True)
                n_found += 1
    return 1 if n_found else 0


if __name__ == "__main__":
    sys.exit(main())
