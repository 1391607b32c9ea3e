"""Hundreds who connect and send nothing, or next to nothing, keep nobody from their pages."""

import contextlib
import itertools
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from collector.serving.plan import plan
from tests import services
from tests.migrated_databases import move_into
from tests.serving import ROOT, SETTINGS

START_SECONDS = 60
# More than the threads of all processes together, many times.
N_HOLDING = 200
ANSWERED_SECONDS = 0.5
# One that waits for those who hold a thread waits longer.
HELD_UP_SECONDS = 20
HEAD = "POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n"
# Nothing at all, half a head, a head alone, and a body that has begun.
HELD = ("", "POST {path} HTT", HEAD, HEAD + "a")
# site -> where anybody may post, and a page that asks its database
SITES = {
    "collector": ("/hit/consent", "/sign-in/"),
    "marketplace": ("/accepted/x/mturk/externalSubmit", "/"),
}


@pytest.mark.pure
@pytest.mark.parametrize("site", SITES)
def test_pages_answer_while_hundreds_send_nothing(site: str, tmp_path: Path) -> None:
    posted, page = SITES[site]
    with served(site, tmp_path) as port, contextlib.ExitStack() as open_ones:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=HELD_UP_SECONDS) as browser:
            browser.get(page)
            held = []
            for said in itertools.islice(itertools.cycle(HELD), N_HOLDING):
                line = socket.create_connection(("127.0.0.1", port))
                held.append(open_ones.enter_context(line))
                line.sendall(said.format(path=posted).encode())
            times = []
            for line in held[: N_HOLDING // 4]:
                with contextlib.suppress(OSError):
                    # Slowly is no better than not at all.
                    line.send(b"a")
                began = time.perf_counter()
                answer = browser.get(page)
                times.append(time.perf_counter() - began)
                assert answer.status_code in (200, 503), answer.text
        print(f"{site}: {max(times) * 1000:.0f} ms at most beside {N_HOLDING} that send nothing")
        # Another program may take the machine for a moment: no page is held up, and few are slow.
        assert statistics.median(times) < ANSWERED_SECONDS


@contextlib.contextmanager
def served(site: str, home: Path) -> Iterator[int]:
    """Run a site's web process as it is planned, on SQLite; yields the port it listens on."""
    move_into(home)
    port = services.free_port(services.SERVED)
    environment = {
        **{name: value for name, value in os.environ.items() if name not in SETTINGS},
        "COLLECTOR_HOME": str(home),
        "DOMAIN": "127.0.0.1",
        "PORT": str(port),
        "REDIS_URL": "redis://127.0.0.1:1",
        "DATABASE_URL": f"sqlite:///{home / 'collector.sqlite3'}",
        "MARKETPLACE_DATABASE_URL": f"sqlite:///{home / 'marketplace.sqlite3'}",
        "MARKETPLACE_HASHED_STATIC": "no",
    }
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    planned = plan(environment)
    (web,) = (process for process in planned.processes if process.name == f"{site}-web")
    program, *arguments = web.command
    command = [str(Path(sys.executable).parent / program), *arguments]
    given = {**environment, **planned.settings, "COLLECTOR_HASHED_STATIC": "no"}
    listening = int(arguments[arguments.index("--port") + 1])
    with subprocess.Popen(command, env=given, cwd=ROOT, start_new_session=True) as running:
        try:
            until = time.monotonic() + START_SECONDS
            while time.monotonic() < until and running.poll() is None:
                with contextlib.suppress(httpx.TransportError):
                    httpx.get(f"http://127.0.0.1:{listening}/health", timeout=5)
                    break
                time.sleep(0.1)
            else:
                raise AssertionError("The web process did not start: see what it said.")
            yield listening
        finally:
            running.terminate()
            running.wait(timeout=30)
