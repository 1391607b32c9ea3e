"""A whole site as `serve` runs it: each process has a log of its own, and the clock can be set."""

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import psycopg2

from tests import process_groups, services
from tests.rehearsals import restartable_services
from tests.rehearsals.deployed_processes import wait_until
from tests.serving import ROOT, SETTINGS, START_SECONDS

# Runs `serve` with the output of each process in a file of its own.
SERVE = """
import os, subprocess, sys
from pathlib import Path
os.environ["DJANGO_SETTINGS_MODULE"] = "collector.settings"
from django.core.management import execute_from_command_line
from collector.management.commands import serve
popen = serve._popen
def logged(process, planned, **options):
    with (Path(os.environ["LOGS"]) / (process.name.replace(" ", "-") + ".log")).open("ab") as log:
        return popen(process, planned, **{"stdout": log, "stderr": subprocess.STDOUT, **options})
serve._popen = logged
execute_from_command_line(["manage.py", "serve"])
"""
HELD = """
SELECT count(*), coalesce(sum(reward_cents), 0) FROM marketplace_assignment WHERE state IN %s
"""
NAMES = "SELECT worker_id, display_name FROM marketplace_worker"


def commands_under(supervisor: int) -> dict[int, str]:
    """Return the command of each process that a supervisor has started, by its id."""
    found = {}
    for pid in Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split():
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
            found[int(pid)] = " ".join(words)
    return {pid: command for pid, command in found.items() if "supervision.py" not in command}


def ask(database: str, query: str, *parameters: object) -> list[tuple[Any, ...]]:
    """Return the rows of a query."""
    server = psycopg2.connect(database)
    try:
        with server, server.cursor() as cursor:
            cursor.execute(query, parameters or None)
            return list(cursor.fetchall())
    finally:
        server.close()


class SteppedClock:
    """A clock that can be set, of those who start with `environment`; {} without a C compiler."""

    def __init__(self, folder: Path) -> None:
        """Make a clock that is right; its files are kept in the folder."""
        self.file, library = folder / "clock", folder / "stepped_clock.so"
        self.set_ahead(0)
        self.file.chmod(0o644)
        self.environment: dict[str, str] = {}
        if compiler := shutil.which("cc"):
            source = Path(__file__).with_name("stepped_clock.c")
            subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
            self.environment = {"LD_PRELOAD": str(library), "CLOCK_AHEAD": str(self.file)}

    def set_ahead(self, seconds: int) -> None:
        """Set it so many seconds ahead of the time, or behind it."""
        # Those who see it have it mapped: it stays the same file.
        with open(os.open(self.file, os.O_CREAT | os.O_WRONLY), "wb") as file:
            file.write(seconds.to_bytes(8, sys.byteorder, signed=True))


class Served:
    """A whole site as `serve` runs it, whose processes can be found by name."""

    def __init__(
        self, logs: Path, home: Path, database: int, redis: int, clock: dict[str, str]
    ) -> None:
        self.home, self.logs = home, logs
        self.logs.mkdir()
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
            "LOGS": str(logs),
            # A rehearsal may be root's; nobody else is told of it.
            "PYTHONWARNINGS": "ignore:You're running the worker with superuser",
            **clock,
        }
        self.environment.pop("DJANGO_SETTINGS_MODULE", None)
        self.process: subprocess.Popen[Any] | None = None

    def start(self) -> None:
        """Serve; returns once every part is well."""
        with (self.logs / "serve.log").open("ab") as log:
            self.process = process_groups.begin(
                [sys.executable, "-c", SERVE],
                env=self.environment,
                cwd=ROOT,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        # Asked once more, a machine that is busy may answer too late.
        is_up = wait_until(lambda: self.has_ended() or self.is_well(), START_SECONDS)
        assert is_up, self.said({})
        assert not self.has_ended(), self.said({})

    def has_ended(self) -> bool:
        """Return whether `serve` runs no more."""
        return self.process is None or self.process.poll() is not None

    def stop(self) -> None:
        """End everything."""
        if self.process:
            self.process.terminate()
            self.process.wait(timeout=60)

    def health(self) -> dict[str, bool]:
        """Return what each part says of itself; {} where nobody answers."""
        try:
            return dict(httpx.get(f"http://127.0.0.1:{self.port}/health", timeout=5).json())
        except (httpx.TransportError, ValueError):
            return {}

    def is_well(self) -> bool:
        """Return whether every part says that it does its work."""
        health = self.health()
        return bool(health) and all(health.values())

    def commands(self) -> dict[int, str]:
        """Return the command of each process that `serve` has started, by its id."""
        assert self.process
        return commands_under(self.process.pid)

    def strike(self, name: str, how: Callable[[int], None]) -> None:
        """Do something to the process whose command has these words."""
        (pid,) = (pid for pid, command in self.commands().items() if name in command)
        how(pid)

    def replace(self, name: str) -> None:
        """Kill a process without warning; returns once another one serves in its place."""
        (old,) = (pid for pid, command in self.commands().items() if name in command)
        os.kill(old, signal.SIGKILL)

        def is_replaced() -> bool:
            found = {pid for pid, command in self.commands().items() if name in command}
            return bool(found - {old}) and self.is_well() and self._serves()

        assert wait_until(is_replaced, START_SECONDS), self.said({})

    def _serves(self) -> bool:
        """Return whether the pages, the marketplace's and the sockets' process answer.

        Whoever listens there may still have to be started.
        """
        for number, path in enumerate(("/health", "/hits/", "/health")):
            try:
                answer = httpx.get(f"http://127.0.0.1:{self.port + number}{path}", timeout=5)
            except httpx.TransportError:
                return False
            if answer.is_server_error:
                return False
        return True

    def held(self, *states: str) -> tuple[int, int]:
        """Return how much work the marketplace has, and what it is worth in cents."""
        [(number, cents)] = ask(self.market, HELD, states or ("submitted", "approved"))
        return int(number), int(cents)

    def names(self) -> dict[str, str]:
        """Return how the marketplace's workers sign in, by their ids."""
        return dict(ask(self.market, NAMES))

    def lines_before(self) -> dict[str, int]:
        """Return how many lines each process has said so far."""
        return {path.stem: _n_lines(path) for path in sorted(self.logs.glob("*.log"))}

    def said(self, before: dict[str, int]) -> dict[str, list[str]]:
        """Return what each process has said since then; the silent are left out."""
        found = {
            path.stem: path.read_text("utf-8").splitlines()[before.get(path.stem, 0) :]
            for path in sorted(self.logs.glob("*.log"))
        }
        return {name: lines for name, lines in found.items() if lines}

    def settings(self) -> dict[str, str]:
        """Return the environment for commands, as `serve` has kept it for a shell."""
        kept = shlex.split((self.home / "serve.env").read_text())
        return {**self.environment, **dict(each.split("=", 1) for each in kept)}


def _n_lines(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())
