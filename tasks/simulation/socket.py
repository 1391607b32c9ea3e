"""Keeps a simulated worker's socket open, and opens it again when it is lost."""

import time
from contextlib import suppress
from urllib.parse import urljoin, urlsplit, urlunsplit

import orjson
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from tasks.simulation.browser import allows, origin
from tasks.simulation.conversation import WAITING, Conversation
from tasks.simulation.page_parser import Page, StuckError

TIMEOUT_SECONDS = 60
GLANCE_SECONDS = 0.1
# A worker whom nobody joins for so long looks for other work.
PATIENCE_SECONDS = 8.0
# Codes from here on are the server's own: it knows the worker, or does not want them.
REFUSING = 4000
MOST_TRIES = 40
PAUSE_SECONDS = 0.25


def address_of(page: str, path: str) -> str:
    """Return the address of a socket that a page names, relative to it or whole."""
    parts = urlsplit(urljoin(page, path))
    scheme = {"http": "ws", "https": "wss"}.get(parts.scheme, parts.scheme)
    return urlunsplit(parts._replace(scheme=scheme))


def converse_on(page: Page, path: str, talk: Conversation) -> None:
    """Talk through the socket that a page names; raises StuckError where it may not open it."""
    address = address_of(page.url, path)
    if not allows(page, "connect-src", address):
        raise StuckError(f"{page} may not open a socket to {address}.")
    converse(address, origin(page.url), talk)


def converse(address: str, site: str, talk: Conversation) -> None:
    """Talk until it is over; a worker whom nobody joins goes after PATIENCE_SECONDS.

    Raises StuckError when the server closes the door or is not there any more.
    """
    tries = 0
    while not talk.is_over:
        try:
            with connect(
                address, origin=Origin(site), proxy=None, open_timeout=TIMEOUT_SECONDS
            ) as line:
                _serve(line, talk)
                tries = 0
        except ConnectionClosed as closed:
            code = closed.rcvd.code if closed.rcvd else 0
            if code >= REFUSING:
                raise StuckError(f"The socket was closed with {code}.") from None
        except (OSError, InvalidHandshake) as error:
            tries += 1
            if tries > MOST_TRIES:
                raise StuckError(f"The socket cannot be opened: {error}.") from None
        time.sleep(0 if talk.is_over or talk.cut else PAUSE_SECONDS)


def _serve(line: ClientConnection, talk: Conversation) -> None:
    """Say and hear until the talk is over or the connection is given up."""
    _say(line, talk.greet())
    since = time.monotonic()
    while not talk.is_over:
        try:
            heard = line.recv(timeout=GLANCE_SECONDS)
        except TimeoutError:
            if talk.phase == WAITING and time.monotonic() - since > PATIENCE_SECONDS:
                _say(line, talk.finish())
            continue
        if talk.phase != WAITING:
            since = time.monotonic()
        replies = talk.hear(orjson.loads(heard))
        time.sleep(talk.pause_seconds)
        _say(line, replies)
        if talk.cut:
            return


def _say(line: ClientConnection, messages: list[dict[str, object]]) -> None:
    with suppress(ConnectionClosed):
        for message in messages:
            line.send(orjson.dumps(message).decode())
