"""A message of a live dialog: CPU of the web process beside a bare relay on the same layer.

PAIRS=100,500 MODES=embedded,redis,two CUT_SECONDS=0,5 MEASURED_SECONDS=60 choose what is run,
REPETITIONS=5 how often; the medians come last. What is left in memory, memory.py measures.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from collector.serving.plan import LIVE
from deploy.benchmarks import bare_talk
from deploy.benchmarks.serving import ROOT, Served, running
from tests import services
from tests.rehearsals.dialog_crowds import Crowd, Plan, percentile, relayed
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
from django.db import transaction
from tests.rehearsals.rows import lay_out
with transaction.atomic():
    tokens = lay_out({people}, {sections}, {overrides})
json.dump(tokens, open({file!r}, "w"))
"""
HEADS = ("cut every", "bare relay", "p95", "ours", "p95", "ratio", "messages", "cuts")
FAULTS = ("lost", "doubled")


class Cost(NamedTuple):
    """What messages cost: CPU seconds of the server for each, and the 95th percentile of their way.

    `lost` were said to be taken and are not stored, or were not heard by the partner; `doubled`
    are stored twice.
    """

    cpu_seconds: float
    p95_seconds: float
    n_messages: int
    n_cuts: int = 0
    lost: int = 0
    doubled: int = 0


class Outcome(NamedTuple):
    """What became of messages: the seconds that each was on its way, and the same as in Cost."""

    ways: list[float]
    n_messages: int
    n_cuts: int
    lost: int
    doubled: int


def main() -> None:
    """Print the cost of a message at every level, with and without what dialogs add.

    The reference, on the same layer under the same server in as many processes, has its sockets
    cut as often. It stores and checks nothing, knows nobody and answers its sender nothing; ours
    sends two frames for each one it is sent. The CPU time is that of these processes: what Redis
    and PostgreSQL use for either is not in it.
    """
    print(f"{'':>9}{'pairs':>6}" + "".join(f"{head:>12}" for head in HEADS + FAULTS), flush=True)
    with services.redis() as redis, services.postgresql() as server:
        for mode in MODES:
            for n_pairs in LEVELS:
                found: dict[float, list[tuple[Cost, Cost]]] = {cut: [] for cut in CUTS}
                for _ in range(REPETITIONS):
                    for cut_seconds, costs in found.items():
                        bare = _bare(n_pairs, mode, cut_seconds, redis)
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
    numbers = (ours.n_messages, ours.n_cuts, ours.lost, ours.doubled)
    print(f"{ratio:12.2f}" + "".join(f"{number:12}" for number in numbers), flush=True)


def _median(costs: Iterable[Cost]) -> Cost:
    fields = [*zip(*costs, strict=True)]
    found = Cost(*map(statistics.median_low, fields))
    return found._replace(lost=sum(fields[4]), doubled=sum(fields[5]))


def _shown(cost: Cost) -> str:
    return f"{cost.cpu_seconds * 1e6:9.0f} µs{cost.p95_seconds * 1000:9.0f} ms"


@contextmanager
def served(
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
        environment = environment_of(mode, folder, redis, server)
        tokens = laid_out(environment, 2 * n_pairs, n_pairs + 2, LONG)
        instance = Instance(Path(folder), services.free_port(), environment)
        with served("collector.asgi:live", mode, environment) as (site, address, origin):
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


def laid_out(
    environment: dict[str, str], n_people: int, n_sections: int, overrides: Mapping[str, object]
) -> list[str]:
    """Return the tokens of so many people, whose leases and sections are put into new databases."""
    file = str(Path(environment["COLLECTOR_HOME"]) / "tokens.json")
    script = PREPARE.format(
        people=n_people, sections=n_sections, overrides=repr(dict(overrides)), file=file
    )
    environment = {**os.environ, **environment}
    subprocess.run([sys.executable, "-c", script], env=environment, cwd=ROOT, check=True)
    found: list[str] = json.loads(Path(file).read_text())
    return found


def environment_of(mode: str, folder: str, redis: str, server: str) -> dict[str, str]:
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
    wait_for_talk(instance, n_pairs)
    time.sleep(SETTLING_SECONDS)
    start, before = time.time(), site.cpu_seconds()
    time.sleep(MEASURED_SECONDS)
    end, after = time.time(), site.cpu_seconds()
    found = outcome(instance, crowd, start, end)
    return Cost(
        cpu_seconds=(after - before) / found.n_messages,
        p95_seconds=percentile(found.ways, 0.95),
        n_messages=found.n_messages,
        n_cuts=found.n_cuts,
        lost=found.lost,
        doubled=found.doubled,
    )


def wait_for_talk(instance: Instance, n_pairs: int) -> None:
    """Return when so many pairs talk; ends the benchmark where they never do."""
    until = time.time() + PATIENCE_SECONDS
    while instance.call(f"{HERE}:state")["states"].get("talking", 0) < n_pairs:
        if time.time() > until:
            raise SystemExit("Not everybody talks: the machine is too busy for so many.")
        # A pair that missed each other is found by the clock, which is not running here.
        instance.call(f"{HERE}:sweep")
        time.sleep(2)


def outcome(instance: Instance, crowd: Crowd, start: float, end: float) -> Outcome:
    """Close all pages, and return what became of the messages sent from `start` to `end`.

    Prints who was refused, if anybody was: they are gone, and their partners' messages with them.
    """
    # What is on its way arrives.
    time.sleep(SETTLING_SECONDS)
    crowd.close_pages()
    seen = crowd.seen()
    if refused := Counter(one["error"] for one in seen if one["error"]):
        print(f"refused: {dict(refused)}", flush=True)
    sent = {key for one in seen for key, at in one["sent"].items() if start <= at < end}
    heard = {key for one in seen for key in one["heard"] if key not in one["sent"]}
    stored = Counter(instance.call(f"{HERE}:messages"))
    taken = {message for one in seen for message in one["taken"]}
    return Outcome(
        ways=relayed(seen, start, end),
        n_messages=len(sent),
        n_cuts=sum(one["cuts"] for one in seen),
        lost=len(sent - heard) + len(taken - set(stored)),
        doubled=sum(number - 1 for number in stored.values()),
    )


def _bare(n_pairs: int, mode: str, cut_seconds: float, redis: str) -> Cost:
    """Return what a relay that knows nothing of dialogs costs."""
    environment = {"REDIS_URL": "" if mode == "embedded" else redis, "PYTHONPATH": str(ROOT)}
    environment["DJANGO_SETTINGS_MODULE"] = ""
    with served("deploy.benchmarks.bare:application", mode, environment) as (site, address, _):
        arriving = 2 * n_pairs / ARRIVALS_PER_SECOND
        start = time.time() + arriving + SETTLING_SECONDS
        talk = bare_talk.Talk(
            address,
            n_pairs,
            arriving,
            EVERY_SECONDS,
            cut_seconds,
            start=start,
            end=start + MEASURED_SECONDS,
        )
        cpu, ways = talk.measured(site)
    return Cost(cpu / len(ways), percentile(ways, 0.95), len(ways))


if __name__ == "__main__":
    main()
