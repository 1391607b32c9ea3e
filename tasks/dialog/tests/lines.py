"""Serves real sockets inside a test, and talks through them as a page does."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import orjson
from django.db import connections
from websockets.sync.client import ClientConnection, connect

from collector.serving.one_process import server
from tasks.dialog.database_threads import THREADS, WORKERS
from tasks.simulation.conversation import state_after
from tests.services import free_port

PATIENCE_SECONDS = 30.0


class Line:
    """One page's socket; `heard` is every text that ever came over it."""

    def __init__(self, port: int, origin: str) -> None:
        address = f"ws://localhost:{port}/hit/socket"
        self.socket: ClientConnection = connect(
            address, origin=origin, proxy=None, max_queue=None
        ).__enter__()
        self.heard: list[str] = []
        self.state: dict[str, Any] = {}

    def say(self, **message: Any) -> str:
        """Send a message with a new id, or the one that is given; return the id."""
        message = {"id": str(uuid4()), **message}
        self.socket.send(orjson.dumps(message).decode())
        return str(message["id"])

    def hear(self) -> dict[str, Any]:
        """Return the next message."""
        text = self.socket.recv(timeout=PATIENCE_SECONDS)
        self.heard.append(str(text))
        message: dict[str, Any] = orjson.loads(text)
        self.state = state_after(self.state, message) or self.state
        return message

    def reply_to(self, message_id: str) -> dict[str, Any]:
        """Return what the server says of a message."""
        while (message := self.hear()).get("id") != message_id:
            pass
        return message

    def move(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Make a move in the dialog at hand and return what the server says of it."""
        return self.reply_to(self.say(type=kind, dialog=self.state["dialog"]["id"], **fields))

    def wait_for(self, phase: str, to_move: str | None = None, turns: int | None = None) -> Any:
        """Return the state once it is in this phase, and this one's move after so many turns."""
        until = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < until:
            dialog = self.state.get("dialog") or {}
            if (
                self.state.get("phase") == phase
                and to_move in (None, dialog.get("to_move"))
                and turns in (None, len(dialog.get("turns", [])))
            ):
                return self.state
            self.hear()
        raise AssertionError(f"Never {phase} {to_move}: {self.state}")


def open_line(port: int) -> Line:
    """Return a socket opened as from our own page, nobody introduced yet."""
    return Line(port, f"http://localhost:{port}")


@contextmanager
def serving_sockets(settings: Any) -> Iterator[int]:
    """Serve the site's application from this process; yields the port."""
    port = free_port()
    settings.COLLECTOR_URL = f"http://localhost:{port}"
    web = server(port)
    thread = threading.Thread(target=web.run, daemon=True)
    thread.start()
    while not web.started:
        time.sleep(0.01)
    try:
        yield port
    finally:
        web.should_exit = True
        thread.join(timeout=20)
        close_connections()


def close_connections() -> None:
    """Let go of the database in every thread of the sockets, or it could not be taken down."""
    together = threading.Barrier(WORKERS)

    def close() -> None:
        together.wait(PATIENCE_SECONDS)
        connections.close_all()

    for done in [THREADS.submit(close) for _ in range(WORKERS)]:
        done.result()
