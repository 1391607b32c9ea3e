"""Serves a whole instance in a process of its own: both sites, their databases and the jobs."""

import contextlib
import io
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from collector.environment import Environment
from tests import process_groups
from tests.migrated_databases import move_into
from tests.services import free_port

ROOT = Path(__file__).resolve().parent.parent
# On a machine that is busy with other things.
START_SECONDS = 300
# Runs functions on the instance's databases: one line of JSON in, one line of JSON out.
HELPER = """
import contextlib, django, django.apps, django.db, importlib, json, sys, traceback
django.setup()
for line in sys.stdin:
    module, name, arguments = json.loads(line)
    # The server may have been another one since the last call.
    django.db.connections.close_all()
    try:
        with contextlib.redirect_stdout(sys.stderr):
            reply = {"value": getattr(importlib.import_module(module), name)(*arguments)}
            # Nobody tells the server what was written behind its back; an old home has no jobs, nor
            # has the marketplace's own side.
            if django.apps.apps.is_installed("tasks"):
                with contextlib.suppress(django.db.DatabaseError):
                    importlib.import_module("tasks.work.due_work").wake_all()
    except Exception:
        reply = {"error": traceback.format_exc()}
    print(json.dumps(reply), flush=True)
"""


class Instance:
    """One served Collector with its embedded marketplace; `call` works on its databases.

    `inside`: what is put before a command so that it runs on another host.
    """

    inside: Sequence[str] = ()

    def __init__(self, home: Path, port: int, settings: Mapping[str, str] | None = None) -> None:
        self.home = home
        self.collector_url = f"http://localhost:{port}"
        self.marketplace_url = f"http://127.0.0.1:{port}"
        self.environment = {
            **{name: value for name, value in os.environ.items() if name not in SETTINGS},
            "DJANGO_SETTINGS_MODULE": "collector.settings",
            "COLLECTOR_HOME": str(home),
            "PORT": str(port),
            "PYTHONPATH": str(ROOT),
            "PYTHONUNBUFFERED": "1",
            **(settings or {}),
        }
        self._helper: subprocess.Popen[str] | None = None
        self._server: subprocess.Popen[bytes] | None = None

    def call(self, function: str, *arguments: Any) -> Any:
        """Return what "module:function" returns in a process that holds the instance's databases.

        Arguments and result travel as JSON. Raises AssertionError with the traceback.
        """
        if self._helper is None:
            self._helper = process_groups.begin(
                [*self.inside, sys.executable, "-c", HELPER],
                env=self.environment,
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.log("helper"),
                text=True,
            )
        assert self._helper.stdin
        assert self._helper.stdout
        self._helper.stdin.write(json.dumps([*function.split(":"), arguments]) + "\n")
        self._helper.stdin.flush()
        reply = json.loads(self._helper.stdout.readline() or '{"error": "the process has died"}')
        assert "error" not in reply, reply["error"]
        return reply["value"]

    def log(self, name: str) -> Any:
        """Return the open file that keeps what a process of the instance says."""
        return (self.home / f"{name}.log").open("a")

    def run(self, *command: str) -> str:
        """Return what `manage.py` printed for a command; raises AssertionError when it failed.

        It runs beside `call`: starting a process for each would be half of the tests' time.
        """
        return str(self.call("tests.serving:carry_out", *command))

    def start(self) -> None:
        """Serve, and return once the port answers."""
        with self.log("server") as log:
            self._server = process_groups.begin(
                [sys.executable, "manage.py", "run"],
                env=self.environment,
                cwd=ROOT,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        _wait_for(int(self.environment["PORT"]), self._server, self.home / "server.log")

    def stop(self, how: signal.Signals) -> None:
        """End the server, gently or not."""
        if self._server is not None:
            self._server.send_signal(how)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._server.wait(timeout=30)
            process_groups.end(self._server)
            self._server = None

    def close(self) -> None:
        """End the process behind `call`."""
        if self._helper is not None:
            assert self._helper.stdin
            self._helper.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._helper.wait(timeout=20)
            process_groups.end(self._helper)
            self._helper = None


def carry_out(*command: str) -> str:
    """Return what `manage.py` prints for a command (runs on the instance's databases)."""
    from django.core.management import execute_from_command_line

    said, complained, code = io.StringIO(), io.StringIO(), None
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
            execute_from_command_line(["manage.py", *command])
    except SystemExit as end:
        code = end.code
    assert not code, f"{command}: {said.getvalue()}{complained.getvalue()}"
    return said.getvalue()


SETTINGS = frozenset(Environment.model_fields) - {"COLLECTOR_DATA"}


@contextmanager
def serving(home: Path, settings: Mapping[str, str] | None = None) -> Iterator[Instance]:
    """Yield an instance served as `manage.py run` does it, on a free port, from an empty folder.

    `settings` are further environment variables, such as the addresses of its databases.
    """
    instance = Instance(home, free_port(), settings)
    if "DATABASE_URL" not in (settings or {}):
        move_into(home)
    try:
        instance.start()
        yield instance
    finally:
        instance.close()
        instance.stop(signal.SIGTERM)


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(f"The instance did not start: {log.read_text()}")
