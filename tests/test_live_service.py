"""The process that serves live dialogs in production starts, answers, and tells other processes."""

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import orjson
from redis import Redis
from websockets.sync.client import connect

from collector.serving.plan import plan
from tests import services
from tests.serving import ROOT, SETTINGS

START_SECONDS = 60
NOTIFY = "from tasks.dialog.hub import notify; notify([1, 2]); print('notified')"


def settings(home: Path, port: int, redis: str) -> dict[str, str]:
    """Return the environment of a site whose parts are processes of their own."""
    kept = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    return {
        **kept,
        "COLLECTOR_HOME": str(home),
        "COLLECTOR_URL": "https://lab.example",
        "MARKETPLACE_URL": "https://work.lab.example",
        "MTURK_ENDPOINT_URL": "http://127.0.0.1:1",
        "DATABASE_URL": f"sqlite:///{home / 'collector.sqlite3'}",
        "REDIS_URL": redis,
        "PORT": str(port),
        "DJANGO_SETTINGS_MODULE": "collector.settings",
    }


@contextlib.contextmanager
def serving(environment: dict[str, str]) -> Iterator[int]:
    """Run the process as it is planned; yields the port that it listens on."""
    planned = plan({**environment, "MARKETPLACE_DATABASE_URL": "postgres:///marketplace"})
    (live,) = (process for process in planned.processes if process.name == "collector-live")
    program, *arguments = live.command
    command = [str(Path(sys.executable).parent / program), *arguments]
    port = int(arguments[arguments.index("--port") + 1])
    with subprocess.Popen(command, env=environment, cwd=ROOT, start_new_session=True) as running:
        try:
            _wait_for(port, running)
            yield port
        finally:
            running.terminate()
            running.wait(timeout=30)


def _wait_for(port: int, running: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and running.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("The process for live dialogs did not start.")


def test_it_starts_and_answers(tmp_path: Path) -> None:
    with services.redis() as redis:
        environment = settings(tmp_path, services.free_port(services.SERVED), redis)
        with serving(environment) as port:
            address = f"ws://127.0.0.1:{port}/hit/socket"
            with connect(address, origin="https://lab.example", proxy=None) as line:
                line.send(orjson.dumps({"token": "forged"}).decode())
                said = orjson.loads(line.recv(timeout=START_SECONDS))
                assert said["type"] == "refused"
                assert "no longer valid" in said["message"]
            check_that_sockets_and_health_are_all(port)


def check_that_sockets_and_health_are_all(port: int) -> None:
    """No page is served beside the sockets, and no body is read, however long it goes on."""
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as visitor:
        host = {"Host": "lab.example"}
        assert "database" in visitor.get("/health", headers=host).json()
        for path in ("/", "/collections/", "/hit/", "/static/common/tokens.css"):
            assert visitor.get(path, headers=host).status_code == 404
    with socket.create_connection(("127.0.0.1", port), timeout=START_SECONDS) as line:
        line.sendall(b"POST /hit/consent HTTP/1.1\r\nHost: lab.example\r\n")
        line.sendall(b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
        # It is answered, and hung up on, though the body has no end yet.
        said = b""
        while piece := line.recv(10_000):
            said += piece
    assert said.startswith(b"HTTP/1.1 404 ")


def test_a_ring_of_another_process_is_carried(tmp_path: Path) -> None:
    with services.redis() as redis, Redis.from_url(redis) as server, server.pubsub() as bell:
        bell.psubscribe("collector.dialogs.*")
        done = subprocess.run(
            [sys.executable, "-c", f"import django; django.setup(); {NOTIFY}"],
            env=settings(tmp_path, services.free_port(services.SERVED), redis),
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        assert (done.stdout, done.stderr) == ("notified\n", "")
        heard = [bell.get_message(timeout=10) for _ in range(2)]
    assert [orjson.loads(row["data"]) for row in heard if row and row["type"] == "pmessage"] == [
        [None, [1, 2]]
    ]
