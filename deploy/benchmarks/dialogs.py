"""A message of a live dialog: CPU of the web process beside a bare relay on the same layer.

PAIRS=100,500 MODES=embedded,redis,two CUT_SECONDS=0,5 MEASURED_SECONDS=1800 choose what is run,
REPETITIONS=5 how often; the medians come last.
"""

import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from collector.serving.plan import LIVE
from deploy.benchmarks.serving import ROOT, Served, running
from tests import services
from tests.rehearsals.dialog_crowds import Crowd, Plan, percentile, relayed, thought
from tests.rehearsals.dialogs import HERE
from tests.rehearsals.restartable_services import make_databases
from tests.serving import Instance

# Pairs at each level; every pair sends a message every two seconds.
LEVELS = [int(pairs) for pairs in os.environ.get("PAIRS", "20,100,500").split(",")]
# On SQLite in one process; on PostgreSQL and Redis in one, or in two.
MODES = os.environ.get("MODES", "embedded,redis,two").split(",")
# How often half of the sockets lose their connection; 0 for never.
CUTS = [float(seconds) for seconds in os.environ.get("CUT_SECONDS", "0,5").split(",")]
REPETITIONS = int(os.environ.get("REPETITIONS", "1"))
EVERY_SECONDS = 2.0
# Everybody talks and the first messages are gone before it is measured.
SETTLING_SECONDS = 5.0
MEASURED_SECONDS = float(os.environ.get("MEASURED_SECONDS", "12"))
# What the reference costs is known sooner than whether ours stays as it is.
BARE_SECONDS = min(MEASURED_SECONDS, 60.0)
ARRIVALS_PER_SECOND = 40
# A busy machine may take so long to let everybody in.
PATIENCE_SECONDS = 300.0
# Nobody's dialog ends while it is measured, however long that is.
LONG = {
    "dialog.max_questions": 2000,
    "dialog.max_unanswerable": 2000,
    "dialog.allotted_minutes": 30_000,
}
PREPARE = """
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
import json
from tests.rehearsals.rows import lay_out
json.dump(lay_out({people}, {sections}, {overrides}), open({file!r}, "w"))
"""
TEXT = "x" * 600
HEADS = ("cut every", "bare relay", "p95", "ours", "p95", "ratio", "messages", "cuts", "lost")
HEADS += ("doubled", "MB before", "after")


class Cost(NamedTuple):
    """What messages cost: CPU seconds of the server for each, and the 95th percentile of their way.

    `lost` were said to be taken and are not stored, or were not heard by the partner; `doubled`
    are stored twice. `before` and `after` are the server's memory in MB.
    """

    cpu_seconds: float
    p95_seconds: float
    n_messages: int
    n_cuts: int = 0
    lost: int = 0
    doubled: int = 0
    before: float = 0.0
    after: float = 0.0


def main() -> None:
    """Print the cost of a message at every level, with and without what dialogs add.

    The reference, on the same layer under the same server, stores and checks nothing, knows
    nobody, answers its sender nothing, and is never cut; ours sends two frames for each one it is
    sent.
    """
    print(f"{'':>9}{'pairs':>6}" + "".join(f"{head:>12}" for head in HEADS), flush=True)
    with services.redis() as redis, services.postgresql() as server:
        for mode in MODES:
            for n_pairs in LEVELS:
                found: dict[float, list[tuple[Cost, Cost]]] = {cut: [] for cut in CUTS}
                for _ in range(REPETITIONS):
                    bare = _bare(n_pairs, mode, redis)
                    for cut_seconds, costs in found.items():
                        ours = _ours(n_pairs, mode, cut_seconds, redis, server)
                        costs.append((bare, ours))
                        _print(mode, n_pairs, cut_seconds, costs[-1:])
                for cut_seconds, costs in found.items() if REPETITIONS > 1 else ():
                    _print("median", n_pairs, cut_seconds, costs)


def _print(name: str, n_pairs: int, cut_seconds: float, costs: list[tuple[Cost, Cost]]) -> None:
    """Print the medians of the bare relay's and our costs, and all that was lost or doubled."""
    bare, ours = (_median(each) for each in zip(*costs, strict=True))
    ratio = statistics.median(ours.cpu_seconds / bare.cpu_seconds for bare, ours in costs)
    print(f"{name:>9}{n_pairs:6}{cut_seconds or '-':>12}{_shown(bare)}{_shown(ours)}", end="")
    print(
        f"{ratio:12.2f}{ours.n_messages:12}{ours.n_cuts:12}{ours.lost:12}{ours.doubled:12}", end=""
    )
    print(f"{ours.before:12.0f}{ours.after:12.0f}", flush=True)


def _median(costs: Iterable[Cost]) -> Cost:
    fields = [*zip(*costs, strict=True)]
    found = Cost(*map(statistics.median_low, fields))
    return found._replace(lost=sum(fields[4]), doubled=sum(fields[5]))


def _shown(cost: Cost) -> str:
    return f"{cost.cpu_seconds * 1e6:9.0f} µs{cost.p95_seconds * 1000:9.0f} ms"


@contextmanager
def _served(
    application: str, mode: str, environment: dict[str, str]
) -> Iterator[tuple[Served, str, str]]:
    """Yield the processes of live dialogs, where their sockets are and whose pages may come."""
    port = services.free_port()
    url = f"http://127.0.0.1:{port}"
    n_processes = "2" if mode == "two" else "1"
    words = [n_processes if word == "2" else word for word in LIVE]
    command = [sys.executable, "-m", *words, "--host", "127.0.0.1", "--port", str(port)]
    own = {**os.environ, **environment, "COLLECTOR_URL": url}
    with running([*command, application], own, port, ROOT) as server:
        yield server, f"ws://127.0.0.1:{port}/hit/socket", url


def _ours(n_pairs: int, mode: str, cut_seconds: float, redis: str, server: str) -> Cost:
    """Return what our messages cost: stored, checked, and shown to both."""
    with tempfile.TemporaryDirectory() as folder:
        environment = _environment(mode, folder, redis, server)
        file = str(Path(folder) / "tokens.json")
        script = PREPARE.format(
            people=2 * n_pairs, sections=n_pairs + 2, overrides=repr(LONG), file=file
        )
        subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, **environment}, cwd=ROOT, check=True
        )
        tokens = json.loads(Path(file).read_text())
        instance = Instance(Path(folder), services.free_port(), environment)
        with _served("collector.asgi:live", mode, environment) as (site, address, origin):
            plan = Plan(
                address,
                origin,
                time.time() + 4,
                ARRIVALS_PER_SECOND,
                every_seconds=EVERY_SECONDS,
                cut_seconds=cut_seconds,
            )
            crowd = Crowd(instance, tokens, plan)
            try:
                return _measured(site, instance, crowd, n_pairs)
            finally:
                crowd.stop()
                instance.close()


def _environment(mode: str, folder: str, redis: str, server: str) -> dict[str, str]:
    """Return the settings of a site in this mode, on databases of its own."""
    environment = {
        "DJANGO_SETTINGS_MODULE": "collector.settings",
        "COLLECTOR_HOME": folder,
        "PYTHONPATH": str(ROOT),
    }
    if mode != "embedded":
        name = f"dialogs{time.time_ns()}"
        make_databases(server, name)
        environment |= {
            "DATABASE_URL": f"{server.rpartition('/')[0]}/{name}",
            "MARKETPLACE_DATABASE_URL": f"{server.rpartition('/')[0]}/{name}_market",
            "REDIS_URL": redis,
        }
    return environment


def _measured(site: Served, instance: Instance, crowd: Crowd, n_pairs: int) -> Cost:
    """Return the cost of a message from when everybody talks on."""
    until = time.time() + PATIENCE_SECONDS
    while instance.call(f"{HERE}:state")["states"].get("talking", 0) < n_pairs:
        if time.time() > until:
            raise SystemExit("Not everybody talks: the machine is too busy for so many.")
        # A pair that missed each other is found by the clock, which is not running here.
        instance.call(f"{HERE}:sweep")
        time.sleep(2)
    time.sleep(SETTLING_SECONDS)
    start, before, memory = time.time(), site.cpu_seconds(), site.memory_mb()
    time.sleep(MEASURED_SECONDS)
    end, after, memory_after = time.time(), site.cpu_seconds(), site.memory_mb()
    # What is on its way arrives.
    time.sleep(SETTLING_SECONDS)
    crowd.close_pages()
    seen = crowd.seen()
    sent = {key: at for one in seen for key, at in one["sent"].items() if start <= at < end}
    heard = {key for one in seen for key in one["heard"] if key not in one["sent"]}
    stored = Counter(instance.call(f"{HERE}:messages"))
    taken = {message for one in seen for message in one["taken"]}
    return Cost(
        cpu_seconds=(after - before) / len(sent),
        p95_seconds=percentile(relayed(seen, start, end), 0.95),
        n_messages=len(sent),
        n_cuts=sum(one["cuts"] for one in seen),
        lost=len(set(sent) - heard) + len(taken - set(stored)),
        doubled=sum(number - 1 for number in stored.values()),
        before=memory,
        after=memory_after,
    )


def _cpu_between(site: Served, start: float, end: float) -> float:
    time.sleep(max(0, start - time.time()))
    before = site.cpu_seconds()
    time.sleep(max(0, end - time.time()))
    return site.cpu_seconds() - before


def _bare(n_pairs: int, mode: str, redis: str) -> Cost:
    """Return what a relay that knows nothing of dialogs costs."""
    environment = {"REDIS_URL": "" if mode == "embedded" else redis, "PYTHONPATH": str(ROOT)}
    environment["DJANGO_SETTINGS_MODULE"] = ""
    with _served("deploy.benchmarks.bare:application", mode, environment) as (site, address, _):
        return asyncio.run(_talk(site, address, n_pairs))


async def _talk(site: Served, address: str, n_pairs: int) -> Cost:
    ways: list[float] = []
    rng = random.Random(1)
    begin = time.time()
    start = begin + 2 * n_pairs / ARRIVALS_PER_SECOND + SETTLING_SECONDS
    end = start + BARE_SECONDS

    async def partner(pair: int, side: int) -> None:
        from websockets.asyncio.client import connect

        await asyncio.sleep((2 * pair + side) / ARRIVALS_PER_SECOND)
        async with connect(address, proxy=None, open_timeout=PATIENCE_SECONDS) as line:
            await line.send(f"{pair}:{side}")
            if side:
                await asyncio.sleep(1)
                await line.send(f"{time.time()} {TEXT}")
            while time.time() < end + 1:
                try:
                    heard = await asyncio.wait_for(line.recv(), 0.5)
                except TimeoutError:
                    continue
                now = time.time()
                if start <= now < end:
                    ways.append(now - float(str(heard).split()[0]))
                await asyncio.sleep(thought(EVERY_SECONDS, rng))
                await line.send(f"{time.time()} {TEXT}")

    both = [partner(pair, side) for pair in range(n_pairs) for side in (0, 1)]
    cpu, *_ = await asyncio.gather(asyncio.to_thread(_cpu_between, site, start, end), *both)
    return Cost(cpu / len(ways), percentile(ways, 0.95), len(ways))


if __name__ == "__main__":
    main()
