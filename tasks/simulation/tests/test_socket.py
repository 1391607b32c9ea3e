"""A worker's socket goes where the page says, and is opened again when it is lost."""

import json
import random
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from websockets.sync.server import Server, ServerConnection, serve

from tasks.simulation import conversation
from tasks.simulation.behaviour import DILIGENT
from tasks.simulation.browser import Page, StuckError
from tasks.simulation.conversation import Conversation

DONE: dict[str, Any] = {"type": "state", "state": {"phase": "done"}}


class Hall:
    """A server that says what it is told to, to each socket that comes, and notes what it hears."""

    def __init__(self, *said: list[Any]) -> None:
        self.said, self.heard, self.origins = list(said), [], []
        self.server: Server = serve(self.answer, "127.0.0.1", 0)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        port = self.server.socket.getsockname()[1]
        self.page = Page(f"http://127.0.0.1:{port}/hit/", policy="connect-src 'self'")

    def answer(self, line: ServerConnection) -> None:
        assert line.request
        self.origins.append(line.request.headers["Origin"])
        self.heard.append(json.loads(line.recv()))
        for message in self.said.pop(0):
            if isinstance(message, int):
                line.close(message)
                return
            line.send(json.dumps(message))


@pytest.fixture
def hall(request: pytest.FixtureRequest) -> Iterator[Hall]:
    """Return the server that a test asks for."""
    made = Hall(*request.param)
    yield made
    made.server.shutdown()


def ada() -> Conversation:
    return Conversation("secret", lambda dialog: {}, DILIGENT, random.Random(1))


@pytest.mark.parametrize("hall", [[[DONE]]], indirect=True)
def test_she_says_who_she_is_from_the_pages_own_site(hall: Hall) -> None:
    talk = ada()
    conversation.converse_on(hall.page, "/hit/socket", talk)
    assert talk.is_over
    assert hall.heard == [{"token": "secret", "again": False}]
    assert hall.origins == [hall.page.url.removesuffix("/hit/")]


@pytest.mark.parametrize("hall", [[[1011], [DONE]]], indirect=True)
def test_a_lost_line_is_opened_again(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation, "PAUSE_SECONDS", 0.01)
    talk = ada()
    conversation.converse_on(hall.page, "/hit/socket", talk)
    assert len(hall.heard) == talk.counts["connections"] == 2


@pytest.mark.parametrize("hall", [[[4404]]], indirect=True)
def test_a_closed_door_gets_her_stuck(hall: Hall) -> None:
    with pytest.raises(StuckError, match="closed with 4404"):
        conversation.converse_on(hall.page, "/hit/socket", ada())


def test_a_page_may_open_what_its_policy_allows_and_nothing_else() -> None:
    page = Page("http://localhost:1/hit/", policy="connect-src 'self'")
    with pytest.raises(StuckError, match="may not open a socket to ws://elsewhere"):
        conversation.converse_on(page, "ws://elsewhere/hit/socket", ada())


@pytest.mark.parametrize("hall", [[[DONE]]], indirect=True)
def test_a_policy_may_name_the_socket_itself(hall: Hall) -> None:
    address = conversation.address_of(hall.page.url, "/hit/socket")
    page = Page("http://127.0.0.1:1/hit/", policy=f"connect-src 'self' {address}")
    with pytest.raises(StuckError, match="may not open a socket"):
        conversation.converse_on(page, address.replace("/hit/socket", "/hit/other"), ada())
    talk = ada()
    conversation.converse_on(page, address, talk)
    assert talk.is_over


def test_addresses_are_the_pages_or_whole() -> None:
    assert conversation.address_of("https://a.example/hit/", "/s") == "wss://a.example/s"
    assert (
        conversation.address_of("http://a.example/hit/", "ws://b.example/s") == "ws://b.example/s"
    )
