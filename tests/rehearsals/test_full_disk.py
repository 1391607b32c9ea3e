"""The disk under an embedded site, on SQLite, is filled while people work there."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

import httpx
import pytest

from tests import process_groups
from tests.rehearsals.deployed_processes import wait_until
from tests.rehearsals.small_disk import small_disk
from tests.rehearsals.test_crowd import check_money, prepare
from tests.serving import ROOT, Instance, serving

# Databases, a corpus and all that is written meanwhile.
SIZE = "400m"
FULL_SECONDS, BACK_SECONDS = 20, 5.0
PATIENCE_SECONDS = 120
MOST_LINES = 20
SUBMITTED = "SELECT count(*) FROM tasks_submission"
HANDED_IN = """
SELECT display_name, marketplace_hit.hit_id FROM marketplace_assignment
JOIN marketplace_hit ON marketplace_hit.id = marketplace_assignment.hit_id
JOIN marketplace_worker ON marketplace_worker.id = marketplace_assignment.worker_id
WHERE marketplace_assignment.state IN ('submitted', 'approved')
"""


def test_a_full_disk_under_sqlite_loses_nothing(tmp_path: Path) -> None:
    with small_disk(SIZE) as disk:
        if not os.path.ismount(disk):
            pytest.skip("A disk of its own can be had by root alone")
        home = disk / "home"
        home.mkdir()
        with serving(home) as instance:
            # Its helper and its log write on the same disk.
            prepare(instance, 60)
            with (tmp_path / "workers.txt").open("w") as complaints:
                crowd = begin_work(instance, complaints)
                try:
                    suffer(instance, disk)
                    crowd.send_signal(signal.SIGTERM)
                    said, _ = crowd.communicate(timeout=PATIENCE_SECONDS)
                finally:
                    process_groups.end(crowd)
            taken = Counter((name, hit) for name, hit in json.loads(said))
            kept = set(rows(instance, "marketplace", HANDED_IN))
            print(f"{len(taken)} HITs were said to be handed in, {len(kept)} are", flush=True)
            assert taken
            assert set(taken.values()) == {1}
            assert set(taken) <= kept
            check_money(instance)


def begin_work(instance: Instance, complaints: object) -> "subprocess.Popen[str]":
    """Have people work who never give up."""
    return process_groups.begin(
        [sys.executable, "-m", "tests.rehearsals.steady_crowds", '[["whole"], [], 5]'],
        env=instance.environment,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=complaints,
        text=True,
    )


def suffer(instance: Instance, disk: Path) -> None:
    """Fill the disk for a while; all is said once, and work goes on once there is room."""
    assert wait_until(lambda: moved(instance, 0) > 3, PATIENCE_SECONDS)
    usual = max(seconds_until_moved(instance) for _ in range(5))
    before = len(log(instance))
    fill(disk)
    seen = Counter[str]()
    until = time.monotonic() + FULL_SECONDS
    while time.monotonic() < until:
        seen[f"page {status(instance.marketplace_url + '/hits/')}"] += 1
        seen[f"health {status(instance.collector_url + '/health')}"] += 1
        time.sleep(1)
    (disk / "filling").unlink()
    again = seconds_until_moved(instance)
    well = wait_until(lambda: status(f"{instance.collector_url}/health") == 200, PATIENCE_SECONDS)
    # What is over is said when it is asked again.
    time.sleep(15)
    lines = log(instance)[before:]
    print(
        f"full for {FULL_SECONDS} s: {dict(seen)}; handed in again after {again:.1f} s", flush=True
    )
    print(f"which else takes up to {usual:.1f} s; well: {well}", *lines, sep="\n    ", flush=True)
    assert well
    assert seen.keys() <= {"page 200", "health 503"}
    assert again <= usual + BACK_SECONDS
    assert len(lines) < MOST_LINES
    assert not any(line.startswith("Traceback") for line in lines)


def fill(disk: Path) -> None:
    """Leave no room on the disk."""
    with suppress(OSError), (disk / "filling").open("wb") as file:
        while True:
            file.write(b"0" * 1_000_000)
            file.flush()


def rows(instance: Instance, database: str, query: str) -> list[tuple[object, ...]]:
    """Return the rows of a query."""
    (file,) = instance.home.glob(f"{database}.sqlite3")
    with closing(sqlite3.connect(file, timeout=10)) as opened:
        return opened.execute(query).fetchall()


def moved(instance: Instance, before: int) -> int:
    """Return how many submissions there are beside those of before."""
    [(number,)] = rows(instance, "collector", SUBMITTED)
    return int(str(number)) - before


def seconds_until_moved(instance: Instance) -> float:
    """Return after how many seconds one more is handed in, at most so long as one has patience."""
    began, before = time.monotonic(), moved(instance, 0)
    wait_until(lambda: moved(instance, before) > 0, PATIENCE_SECONDS)
    return time.monotonic() - began


def log(instance: Instance) -> list[str]:
    """Return what the site has said."""
    return (instance.home / "server.log").read_text("utf-8").splitlines()


def status(address: str) -> int:
    """Return how a page is answered; 0 for not at all."""
    with suppress(httpx.TransportError):
        return httpx.get(address, timeout=10, follow_redirects=True).status_code
    return 0
