"""The queue goes away while jobs are at work: its worker stays, and goes on once it is back."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from celery import Celery

from collector.serving.plan import plan
from tests import process_groups, services
from tests.rehearsals import restartable_services
from tests.rehearsals.deployed_processes import wait_until
from tests.serving import ROOT
from tests.slow_jobs import SAID
from tests.test_live_service import settings

pytestmark = pytest.mark.pure
START_SECONDS = 60
# The queue goes and comes within a job.
LONG_SECONDS = 6
BACK_SECONDS = 15


@contextlib.contextmanager
def working(environment: dict[str, str]) -> Iterator["subprocess.Popen[bytes]"]:
    """Run the worker as it is planned, which knows the tests' own job besides."""
    planned = plan({**environment, "MARKETPLACE_DATABASE_URL": "postgres:///marketplace"})
    (jobs,) = (process for process in planned.processes if process.name == "collector-jobs")
    program, *arguments = jobs.command
    command = [str(Path(sys.executable).parent / program), *arguments]
    more = ["--concurrency", "2", "--include", "tests.slow_jobs"]
    worker = process_groups.begin([*command, *more], env=environment, cwd=ROOT)
    try:
        yield worker
    finally:
        process_groups.end(worker, seconds=1)


def test_a_worker_outlives_a_queue_that_was_killed_while_it_worked(tmp_path: Path) -> None:
    said = tmp_path / SAID
    said.touch()

    def is_said(words: str, seconds: float) -> bool:
        return wait_until(lambda: words in said.read_text(), seconds)

    with restartable_services.redis() as redis:
        address = f"redis://127.0.0.1:{redis.port}/0"
        queue = Celery(broker=address)
        with working(settings(tmp_path, services.free_port(services.SERVED), address)) as worker:
            queue.send_task("slow", ("first", LONG_SECONDS))
            assert is_said("first begins", START_SECONDS)
            redis.kill()
            redis.start()
            queue.send_task("slow", ("second", 0), retry=True)
            assert is_said("second ends", BACK_SECONDS)
            # Both of its processes are busy, and a third job waits, when the queue goes again.
            for name in ("third", "fourth", "fifth"):
                queue.send_task("slow", (name, LONG_SECONDS))
            assert is_said("first ends", LONG_SECONDS + BACK_SECONDS)
            assert is_said("fourth begins", BACK_SECONDS)
            redis.kill()
            redis.start()
            assert is_said("third ends", LONG_SECONDS + BACK_SECONDS)
            queue.send_task("slow", ("last", 0), retry=True)
            assert is_said("last ends", BACK_SECONDS)
            assert worker.poll() is None
