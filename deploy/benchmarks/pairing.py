"""Pairs a second, by clients at once, beside pgbench's simplest writes on the same server."""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from deploy.benchmarks.serving import ROOT
from tests import services
from tests.rehearsals.restartable_services import make_databases

CLIENTS, PROCESSES = 16, 4
# Who waits each time: as long as pgbench runs, or the first plans of new connections would count.
WAITING = int(os.environ.get("WAITING", "20000"))
# Who is done already, at each level.
LEVELS = [int(number) for number in os.environ.get("DONE", "0,10000,1000000").split(",")]
PGBENCH_SECONDS = 8
CHILD = "import django; django.setup()\nfrom deploy.benchmarks.waiting import *\n"
START_SECONDS = 20.0


def main() -> None:
    """Print pairs a second, of one job and of arrivals at once, as those who are done grow."""
    with services.postgresql() as server, tempfile.TemporaryDirectory() as folder:
        make_databases(server, "pairing", "pairing_market", "pgbench")
        base = server.rpartition("/")[0]
        _pgbench(f"{base}/pgbench", "-i", "-q", "-s", "10")
        reference = _transactions(f"{base}/pgbench")
        print(f"pgbench -N, {CLIENTS} clients: {reference:.0f} transactions/s")
        floor = _through_psycopg2(f"{base}/pgbench")
        print(f"the same through psycopg2: {floor:.0f}, {floor / reference:.3f} of it", flush=True)
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "collector.settings",
            "DATABASE_URL": f"{base}/pairing",
            "MARKETPLACE_DATABASE_URL": f"{base}/pairing_market",
            "COLLECTOR_HOME": folder,
            "PYTHONPATH": str(ROOT),
        }
        subprocess.run(
            [sys.executable, "manage.py", "migrate", "-v", "0"],
            env=environment,
            cwd=ROOT,
            check=True,
        )
        _child(f"prepare({folder!r}, {WAITING * len(LEVELS)})", environment)
        stage, posting = json.loads((Path(folder) / "stage.json").read_text())
        heads = ("pgbench -N", "one sweep", "of pgbench", f"{CLIENTS} claim", "of pgbench")
        print(f"{'done already':16}" + "".join(f"{head:>16}" for head in heads))
        done = 0
        for level in LEVELS:
            if level:
                _child(f"put_done({stage}, {posting}, {done}, {level})", environment)
            done = level
            # Beside each row: what else the machine does may change meanwhile.
            reference = _transactions(f"{base}/pgbench")
            cells = [f"{reference:16.0f}"]
            for how in ("sweep", "claim"):
                _child(f"put({stage}, {posting}, {WAITING})", environment)
                rate = _rate(stage, how, environment)
                cells.append(f"{rate:16.0f}{rate / reference:16.3f}")
            print(f"{level:<16}" + "".join(cells), flush=True)
        twice, alone = json.loads(_child("print(json.dumps(mistakes()))", environment))
        print(f"paired twice: {twice}, with oneself: {alone}")


def _rate(stage: int, how: str, environment: dict[str, str]) -> float:
    """Return pairs a second of all clients together."""
    before = int(_child("print(Dialog.objects.count())", environment))
    start = time.time() + START_SECONDS
    # One job sweeps, whoever arrives claims.
    n_processes, clients = (1, 1) if how == "sweep" else (PROCESSES, CLIENTS // PROCESSES)
    processes = [
        subprocess.Popen(
            [
                *(sys.executable, "-c"),
                f"{CHILD}pair({stage}, {how!r}, {clients}, {start})",
                *(str(number * clients), str(CLIENTS)),
            ],
            env=environment,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(n_processes)
    ]
    ends = [json.loads(process.communicate()[0]) for process in processes]
    return (max(n for _, n in ends) - before) / (max(at for at, _ in ends) - start)


def _child(script: str, environment: dict[str, str]) -> str:
    return subprocess.run(
        [sys.executable, "-c", CHILD + script],
        env=environment,
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout


def _pgbench(database: str, *words: str) -> str:
    """Return what PostgreSQL's own benchmark says. Raises Missing."""
    program = services.binary("pgbench")
    if program is None:
        raise services.Missing("pgbench is missing: it comes with PostgreSQL.")
    done = subprocess.run([program, *words, database], check=True, capture_output=True, text=True)
    return done.stdout


def _transactions(database: str) -> float:
    """Return how many of pgbench's simple transactions the server does a second."""
    said = _pgbench(database, "-N", "-c", str(CLIENTS), "-j", "2", "-T", str(PGBENCH_SECONDS))
    found = re.search(r"tps = ([\d.]+)", said)
    assert found, said
    return float(found[1])


def _through_psycopg2(database: str) -> float:
    """Return how many of the same transactions Python's clients do a second."""
    start = time.time() + START_SECONDS
    threads = CLIENTS // PROCESSES
    program = [sys.executable, "-m", "deploy.benchmarks.pgbench_in_python", database]
    processes = [
        subprocess.Popen(
            [*program, str(threads), str(start), str(PGBENCH_SECONDS)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(PROCESSES)
    ]
    return sum(int(process.communicate()[0]) for process in processes) / PGBENCH_SECONDS


if __name__ == "__main__":
    main()
