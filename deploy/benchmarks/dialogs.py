"""A message of a live dialog: CPU of the web process beside a bare relay on the same layer."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from collector.serving.plan import LIVE
from deploy.benchmarks.serving import ROOT, Served, running
from tests import services
from tests.rehearsals.dialog_crowds import Crowd, Plan, percentile, relayed
from tests.rehearsals.dialogs import LONG
from tests.rehearsals.restartable_services import make_databases
from tests.serving import Instance

# Pairs at each level, such as PAIRS=20,100; every pair sends a message every two seconds.
LEVELS = [int(pairs) for pairs in os.environ.get("PAIRS", "20,100,500").split(",")]
EVERY_SECONDS = 2.0
# Everybody has come and the first messages are gone before it is measured.
SETTLING_SECONDS = 5.0
MEASURED_SECONDS = 12.0
ARRIVALS_PER_SECOND = 40
PREPARE = """
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
import json, sys
from tests.rehearsals.rows import lay_out
json.dump(lay_out({people}, {sections}, {overrides}), open({file!r}, "w"))
"""
TEXT = "x" * 600


class Cost(NamedTuple):
    """CPU seconds of the server per message, and the 95th percentile of the way of a message."""

    cpu_seconds: float
    p95_seconds: float
    n_messages: int


def main() -> None:
    """Print the cost of a message at every level, with and without what dialogs add.

    The reference, on the same layer under the same server, stores and checks nothing, knows
    nobody and answers its sender nothing; ours sends three frames for each one it is sent.
    """
    heads = ("bare relay", "p95", "ours", "p95", "ratio", "growth", "messages")
    print(f"{'pairs':>6}" + "".join(f"{head:>12}" for head in heads), flush=True)
    first = 0.0
    with services.redis() as redis, services.postgresql() as server:
        for n_pairs in LEVELS:
            bare = _bare(n_pairs, redis)
            print(f"{n_pairs:6}{_shown(bare)}", end="", flush=True)
            ours = _ours(n_pairs, redis, server)
            first = first or ours.cpu_seconds
            ratios = (ours.cpu_seconds / bare.cpu_seconds, ours.cpu_seconds / first)
            print(
                f"{_shown(ours)}{ratios[0]:12.2f}{ratios[1]:12.2f}{ours.n_messages:12}", flush=True
            )


def _shown(cost: Cost) -> str:
    return f"{cost.cpu_seconds * 1e6:9.0f} µs{cost.p95_seconds * 1000:9.0f} ms"


@contextmanager
def _served(application: str, environment: dict[str, str]) -> Iterator[tuple[Served, str, str]]:
    """Yield one process of live dialogs, the address of its sockets and whose pages may come."""
    port = services.free_port()
    url = f"http://127.0.0.1:{port}"
    words = [word for word in LIVE if word not in ("--workers", "2")]
    command = [sys.executable, "-m", *words, "--host", "127.0.0.1", "--port", str(port)]
    own = {**os.environ, **environment, "COLLECTOR_URL": url}
    with running([*command, application], own, port, ROOT) as server:
        yield server, f"ws://127.0.0.1:{port}/hit/socket", url


def _ours(n_pairs: int, redis: str, server: str) -> Cost:
    """Return what our messages cost: stored, checked, and shown to both."""
    name = f"dialogs{n_pairs}"
    with tempfile.TemporaryDirectory() as folder:
        make_databases(server, name)
        environment = {
            "DJANGO_SETTINGS_MODULE": "collector.settings",
            "DATABASE_URL": f"{server.rpartition('/')[0]}/{name}",
            "MARKETPLACE_DATABASE_URL": f"{server.rpartition('/')[0]}/{name}_market",
            "REDIS_URL": redis,
            "COLLECTOR_HOME": folder,
            "PYTHONPATH": str(ROOT),
        }
        file = str(Path(folder) / "tokens.json")
        script = PREPARE.format(
            people=2 * n_pairs, sections=n_pairs + 2, overrides=repr(LONG), file=file
        )
        subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, **environment}, cwd=ROOT, check=True
        )
        tokens = json.loads(Path(file).read_text())
        with _served("collector.asgi:live", environment) as (site, address, origin):
            instance = Instance(Path(folder), services.free_port(), environment)
            begin = time.time() + 4
            start = begin + 2 * n_pairs / ARRIVALS_PER_SECOND + SETTLING_SECONDS
            plan = Plan(
                address,
                origin,
                begin,
                ARRIVALS_PER_SECOND,
                every_seconds=EVERY_SECONDS,
                until=start + MEASURED_SECONDS + 1,
            )
            crowd = Crowd(instance, tokens, plan)
            used = _sampled(site, plan.until - 1)
            seen = crowd.seen()
    return _cost_since_all_talk(seen, used)


def _sampled(site: Served, until: float) -> list[tuple[float, float]]:
    """Return the server's CPU seconds as they grow, with the times; ends at `until`."""
    found = []
    while time.time() < until:
        found.append((time.time(), site.cpu_seconds()))
        time.sleep(0.5)
    return found


def _cost_since_all_talk(seen: list[dict[str, Any]], used: list[tuple[float, float]]) -> Cost:
    """Return the cost of a message since the last to come has been told of a partner.

    A busy machine may take longer to let everybody in than was planned.
    """
    sent = {key: at for one in seen for key, at in one["sent"].items()}
    told = max(max(one["told"].values(), default=used[-1][0]) for one in seen)
    measured = [each for each in used if each[0] > told + SETTLING_SECONDS]
    if len(measured) < 2:
        raise SystemExit("Nobody has talked for long enough: the machine is too busy for so many.")
    (start, before), (end, after) = measured[0], measured[-1]
    ways = relayed(seen, start, end)
    number = sum(start <= at < end for at in sent.values())
    return Cost((after - before) / number, percentile(ways, 0.95), number)


def _cpu_between(site: Served, start: float, end: float) -> float:
    time.sleep(max(0, start - time.time()))
    before = site.cpu_seconds()
    time.sleep(max(0, end - time.time()))
    return site.cpu_seconds() - before


def _bare(n_pairs: int, redis: str) -> Cost:
    """Return what a relay that knows nothing of dialogs costs."""
    environment = {"REDIS_URL": redis, "PYTHONPATH": str(ROOT)}
    environment["DJANGO_SETTINGS_MODULE"] = ""
    with _served("deploy.benchmarks.bare:application", environment) as (site, address, _):
        return asyncio.run(_talk(site, address, n_pairs))


async def _talk(site: Served, address: str, n_pairs: int) -> Cost:
    ways: list[float] = []
    begin = time.time()
    start = begin + 2 * n_pairs / ARRIVALS_PER_SECOND + SETTLING_SECONDS
    end = start + MEASURED_SECONDS

    async def partner(pair: int, side: int) -> None:
        from websockets.asyncio.client import connect

        await asyncio.sleep((2 * pair + side) / ARRIVALS_PER_SECOND)
        async with connect(address, proxy=None) as line:
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
                await asyncio.sleep(EVERY_SECONDS)
                await line.send(f"{time.time()} {TEXT}")

    both = [partner(pair, side) for pair in range(n_pairs) for side in (0, 1)]
    cpu, *_ = await asyncio.gather(asyncio.to_thread(_cpu_between, site, start, end), *both)
    return Cost(cpu / len(ways), percentile(ways, 0.95), len(ways))


if __name__ == "__main__":
    main()
