"""PostgreSQL and Redis that can be killed and started again on the same data."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests import process_groups, services

# What a server that was killed must still know, it has written before it said so.
SETTINGS = ("fsync=off", "synchronous_commit=on", "max_connections=200")
READY_SECONDS = 60


def make_databases(server: str, *names: str) -> None:
    """Make empty databases on the server of this address."""
    import psycopg2

    connected = psycopg2.connect(server)
    # A database cannot be made inside a transaction.
    connected.autocommit = True
    with connected.cursor() as cursor:
        for name in names:
            cursor.execute(f"CREATE DATABASE {name}")
    connected.close()


class RunningService:
    """A server's command, running or not."""

    def __init__(
        self,
        name: str,
        command: list[str],
        port: int,
        user: str | None = None,
        is_ready: Callable[[], bool] = lambda: True,
        environment: dict[str, str] | None = None,
    ) -> None:
        self.environment = environment or {}
        self.name, self.command, self.port, self.user = name, command, port, user
        self.is_ready = is_ready
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start; returns once it serves."""
        self.process = process_groups.begin(
            self.command,
            user=self.user,
            env={**os.environ, **self.environment},
            cwd=tempfile.gettempdir(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        services._wait_for(self.port, self.name)
        until = time.monotonic() + READY_SECONDS
        while not self.is_ready():
            if time.monotonic() > until:
                raise services.Missing(f"{self.name} does not get ready.")
            time.sleep(0.1)

    def kill(self) -> None:
        """Kill it with all its children, without warning."""
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(timeout=20)
            self.process = None


@contextmanager
def postgresql(environment: dict[str, str] | None = None) -> Iterator[RunningService]:
    """Yield a PostgreSQL of one's own, with further variables.

    Raises services.Missing without its binaries.
    """
    initdb, server = services.binary("initdb"), services.binary("postgres")
    if not initdb or not server:
        raise services.Missing("PostgreSQL's binaries are missing: install it to kill it.")
    folder = Path(tempfile.mkdtemp(prefix="collector-standing-"))
    user, port = services._unprivileged(folder), services.free_port()
    subprocess.run(
        [initdb, "-D", folder / "data", "-U", "collector", "-A", "trust", "-E", "UTF8"],
        check=True,
        stdout=subprocess.DEVNULL,
        user=user,
        cwd=folder,
    )
    command = [server, "-D", str(folder / "data"), "-p", str(port), "-k", str(folder)]
    command += [part for option in SETTINGS for part in ("-c", option)]

    def is_ready() -> bool:
        """Return whether it lets anybody in: its port answers while it is starting up, too."""
        import psycopg2

        try:
            psycopg2.connect(f"postgres://collector@127.0.0.1:{port}/postgres").close()
        except psycopg2.OperationalError:
            return False
        return True

    one = RunningService(
        "PostgreSQL", [*command, "-h", "127.0.0.1"], port, user, is_ready, environment
    )
    try:
        one.start()
        yield one
    finally:
        one.kill()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def redis(environment: dict[str, str] | None = None) -> Iterator[RunningService]:
    """Yield a Redis of one's own, which remembers nothing; raises services.Missing."""
    server = services.binary("redis-server") or services._redis_of_the_wheel()
    port = services.free_port()
    command = [server, "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
    command += ["--appendonly", "no"]
    one = RunningService("Redis", command, port, environment=environment)
    try:
        one.start()
        yield one
    finally:
        one.kill()
