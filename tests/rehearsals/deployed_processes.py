"""Collector's processes as they are deployed, each of which can be killed and started again."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.db import connection

from collector.serving.plan import Process, plan
from tests import process_groups, services
from tests.migrated_databases import databases
from tests.serving import ROOT, SETTINGS, START_SECONDS, Instance

LIVE, CLOCK = "collector-live", "collector-clock"
JOBS, DIALOGS = "collector-jobs", "collector-dialogs"
HERE = "127.0.0.1"


class Deployed(Instance):
    """An instance whose processes are those of `make serve`, as many of them as are named."""

    def __init__(self, home: Path, settings: Mapping[str, str], names: tuple[str, ...]) -> None:
        port = services.free_port(services.SERVED)
        given = {"DOMAIN": HERE, "COLLECTOR_HOME": str(home), "PORT": str(port), **settings}
        kept = {name: value for name, value in os.environ.items() if name not in SETTINGS}
        self.plan = plan({**kept, **given})
        super().__init__(home, port, {**settings, **self.plan.settings})
        self.names = names
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def socket(self) -> str:
        """Return the address of the sockets."""
        return f"ws://{HERE}:{int(self.environment['PORT']) + 2}/hit/socket"

    @property
    def origin(self) -> str:
        """Return the site whose pages may open a socket."""
        return self.plan.settings["COLLECTOR_URL"]

    @property
    def _own(self) -> dict[str, str]:
        """Return the environment of the processes, each of which knows its settings module."""
        return {
            name: value
            for name, value in self.environment.items()
            if name != "DJANGO_SETTINGS_MODULE"
        }

    def start(self) -> None:
        """Prepare the databases and start every process that was named."""
        for step in self.plan.preparations:
            subprocess.run(_here(step), env=self._own, cwd=ROOT, check=True, capture_output=True)
        for name in self.names:
            self.start_one(name)

    def start_one(self, name: str) -> None:
        """Start one process; returns once its port answers, where it has one."""
        (process,) = [one for one in self.plan.processes if one.name == name]
        self.running[name] = process_groups.begin(
            _here(process),
            env=self._own,
            cwd=ROOT,
            stdout=self.log(name),
            stderr=subprocess.STDOUT,
        )
        if name == LIVE:
            services._wait_for(int(self.environment["PORT"]) + 2, name)

    def kill(self, name: str) -> None:
        """Kill a process with all its children, without warning."""
        os.killpg(self.running[name].pid, signal.SIGKILL)
        self.running.pop(name).wait(timeout=20)

    def close(self) -> None:
        """End everything."""
        super().close()
        for process in self.running.values():
            process.terminate()
        for process in self.running.values():
            process_groups.end(process)

    def cpu_seconds(self, name: str) -> float:
        """Return what a process and its children have used so far."""
        from deploy.benchmarks.serving import Served

        return Served(self.running[name], 0).cpu_seconds()


def _here(process: Process) -> list[str]:
    """Return the command as it is typed where the virtual environment is not active."""
    program, *words = process.command
    if program == "python":
        return [sys.executable, *words]
    return [str(Path(sys.executable).parent / program), *words]


@contextmanager
def deployed(
    home: Path, redis: str, names: tuple[str, ...] = (LIVE, JOBS, DIALOGS, CLOCK), **more: str
) -> Iterator[Deployed]:
    """Yield an instance on empty databases of the running suite's PostgreSQL server."""
    assert connection.vendor == "postgresql"
    with databases("deployed") as settings:
        instance = Deployed(home, {**settings, "REDIS_URL": redis, **more}, names)
        try:
            instance.start()
            yield instance
        finally:
            instance.close()


def wait_until(is_so: Any, seconds: float = START_SECONDS) -> bool:
    """Return whether it came to be so within this time."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if is_so():
            return True
        time.sleep(0.2)
    return False
