"""Two hundred workers compete for a thousand places: none given twice, none lost."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from django.db import connections

from marketplace import clock
from marketplace.models import HIT, Assignment, AssignmentState
from marketplace.people.accounts import RequesterKeys, keys_of, open_requester
from marketplace.tests.boto import mturk_client
from marketplace.tests.conftest import QUESTION
from marketplace.tests.test_money import books_balance
from tests import process_groups
from tests.processes import ROOT, database_url, together
from tests.services import free_port

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "marketplace"])
N_WORKERS, N_CROWDS = 200, 4
N_HITS, N_PLACES = 50, 20
N_WEB_PROCESSES = 3
KILLED_AFTER = 300


@pytest.fixture
def keys() -> RequesterKeys:
    """Rita's keys."""
    return keys_of(open_requester("Rita", "", 1_000_000, clock.now()), "", clock.now())


@contextmanager
def served(home: Path) -> Iterator[tuple[str, int]]:
    """Yield the address of the marketplace alone, as it is deployed, and its process."""
    port = free_port()
    command = [sys.executable, "-m", "granian", "--interface", "asginl", "--host", "127.0.0.1"]
    command += ["--port", str(port), "--workers", str(N_WEB_PROCESSES)]
    command += ["--respawn-failed-workers", "--log-level", "warning"]
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "marketplace.settings",
        "MARKETPLACE_DATABASE_URL": database_url("marketplace"),
        "MARKETPLACE_DATA_DIR": str(home),
        "PYTHONPATH": str(ROOT),
    }
    server = process_groups.begin([*command, "marketplace.asgi:application"], env=environment)
    try:
        yield f"http://127.0.0.1:{port}", server.pid
    finally:
        process_groups.end(server, 30)


def post_hits(address: str, keys: RequesterKeys) -> None:
    """Post HITs of one type once the marketplace answers."""
    client = mturk_client(keys, address, retries={"total_max_attempts": 8, "mode": "standard"})
    kind = client.create_hit_type(
        Title="Ask", Description="Ask.", Reward="0.50", AssignmentDurationInSeconds=3600
    )
    for number in range(N_HITS):
        client.create_hit_with_hit_type(
            HITTypeId=kind["HITTypeId"],
            MaxAssignments=N_PLACES,
            LifetimeInSeconds=86400,
            Question=QUESTION,
            UniqueRequestToken=str(number),
        )


def kill_one(server: int, killed: list[int]) -> None:
    """Kill a web process without warning once some of the work is in."""
    handed_in = Assignment.objects.filter(state=AssignmentState.SUBMITTED)
    while handed_in.count() < KILLED_AFTER:
        time.sleep(0.05)
    os.kill(web_processes(server)[-1], signal.SIGKILL)
    killed.append(handed_in.count())
    connections.close_all()


def web_processes(server: int) -> list[int]:
    """Return the processes that answer requests."""
    listed = subprocess.run(["pgrep", "-P", str(server)], capture_output=True, text=True)
    return [int(line) for line in listed.stdout.split()]


def test_two_hundred_workers_compete_for_a_thousand_places(
    tmp_path: Path, keys: RequesterKeys
) -> None:
    if connections["marketplace"].vendor == "sqlite":
        pytest.skip("several web processes want PostgreSQL")
    each = N_WORKERS // N_CROWDS
    killed: list[int] = []
    with served(tmp_path) as (address, server):
        post_hits(address, keys)
        killer = Thread(target=kill_one, args=[server, killed], daemon=True)
        killer.start()
        began = time.monotonic()
        crowds = [[address, first, each] for first in range(0, N_WORKERS, each)]
        told = together(
            "tests.rehearsals.competing_workers", "compete", crowds, timeout_seconds=600
        )
        seconds = time.monotonic() - began
        killer.join(timeout=10)
    assert killed, "nothing was killed"
    done = [tuple(one) for crowd in told for one in crowd]
    check(done)
    print(
        f"{len(done)} assignments by {len({worker for worker, *_ in done})} workers through "
        f"{N_WEB_PROCESSES} processes, one killed after {killed[0]}, in {seconds:.0f} s"
    )


def check(done: list[Any]) -> None:
    """Every place went to one worker who knows of it, and the money of each is held once."""
    rows = Assignment.objects.values_list("worker__worker_id", "hit__hit_id", "assignment_id")
    assert set(Assignment.objects.values_list("state", flat=True)) == {AssignmentState.SUBMITTED}
    assert len(done) == N_HITS * N_PLACES
    assert Counter(done) == Counter(rows)
    assert len({assignment for _, _, assignment in done}) == len(done)
    assert len({(worker, hit) for worker, hit, _ in done}) == len(done)
    counters = HIT.objects.values_list("n_open", "n_pending", "n_awaiting", "n_completed")
    assert set(counters) == {(0, 0, N_PLACES, 0)}
    assert books_balance(HIT.objects.first().requester)
