"""The queue goes away while jobs are at work: its worker stays, and goes on once it is back."""

import contextlib
import socket
import subprocess
import sys
import threading
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
# Half of what Celery takes by itself.
NOTICED_SECONDS = 24


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


class Forgetful:
    """Stands before a server, and loses connections without telling either end, as firewalls do."""

    def __init__(self, port: int) -> None:
        self._behind = port
        self._kept: list[socket.socket] = []
        self._lost: set[socket.socket] = set()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def forget(self) -> None:
        """Let nothing through any more on what is connected; who comes anew is served."""
        self._lost.update(self._kept)

    def _accept(self) -> None:
        while True:
            near = self._listening.accept()[0]
            far = socket.create_connection(("127.0.0.1", self._behind))
            self._kept += near, far
            for ends in ((near, far), (far, near)):
                threading.Thread(target=self._carry, args=ends, daemon=True).start()

    def _carry(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while sent := one.recv(65536):
                if one not in self._lost:
                    other.sendall(sent)


def test_a_worker_notices_by_itself_that_its_connection_is_gone(tmp_path: Path) -> None:
    said = tmp_path / SAID
    said.touch()
    with restartable_services.redis() as redis:
        between = Forgetful(redis.port)
        environment = settings(
            tmp_path, services.free_port(services.SERVED), f"redis://127.0.0.1:{between.port}/0"
        )
        queue = Celery(broker=f"redis://127.0.0.1:{redis.port}/0")
        with working(environment):
            for name, seconds in (("first", START_SECONDS), ("second", NOTICED_SECONDS)):

                def is_done(name: str = name) -> bool:
                    # What is sent to a connection that is gone is lost: rows have it sent again.
                    queue.send_task("slow", (name, 0))
                    return f"{name} ends" in said.read_text()

                assert wait_until(is_done, seconds)
                between.forget()


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
