"""One side of a live dialog as its page holds it: what comes in decides what goes out."""

import random
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin, urlsplit, urlunsplit
from uuid import UUID

import orjson
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from tasks.simulation.behaviour import Behaviour
from tasks.simulation.browser import Page, StuckError, allows, origin

Message = dict[str, Any]
# The state of a dialog as one partner gets it -> the move: ask, answer or end, without its id.
Speaker = Callable[[Mapping[str, Any]], Message]
MOST_REFUSALS = 3
WAITING, CHECKING, TALKING, DONE = "waiting", "checking", "talking", "done"
TIMEOUT_SECONDS = 60
GLANCE_SECONDS = 0.1
# A worker whom nobody joins for so long looks for other work.
PATIENCE_SECONDS = 8.0
# Codes from here on are the server's own: it knows the worker, or does not want them.
REFUSING = 4000
MOST_TRIES = 40
PAUSE_SECONDS = 0.25


def state_after(state: Mapping[str, Any], message: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the state that a page shows after a message; None for one that changes nothing.

    state: the one before. The whole state comes first, and then what each move has changed.
    """
    if message.get("type") == "state":
        return dict(message["state"])
    change = message.get("change")
    if not change:
        return None
    dialog, turn = state["dialog"], change["turn"]
    turns = [*dialog["turns"][: turn["number"]], turn]
    return {
        **state,
        "now": change["now"],
        "earned": change["earned"],
        "dialog": {**dialog, **change["dialog"], "turns": turns},
    }


@dataclass
class Conversation:
    """A worker at a dialog's page; it opens no socket itself, so that any driver will do.

    `taken` are the moves that the server said it has. After each message `gone` tells that the
    worker has left for good, `cut` that the connection is lost now and has to be made again,
    `pause_seconds` how long the worker waits before saying what is sent next. `listen` is told
    each state of the dialog.
    """

    token: str
    speak: Speaker
    behaviour: Behaviour
    rng: random.Random
    counts: Counter[str] = field(default_factory=Counter)
    taken: list[Message] = field(default_factory=list)
    state: Mapping[str, Any] = field(default_factory=dict)
    gone: bool = False
    cut: bool = False
    pause_seconds: float = 0.0
    listen: Callable[[Mapping[str, Any]], None] = lambda state: None
    _pending: Message | None = None
    # The position in which the last move was made, and what it was: nobody makes two in one.
    _moved_at: tuple[Any, ...] = ()
    _n_refused: int = 0
    _silent: bool | None = None

    @property
    def phase(self) -> str:
        """Return where the worker is: waiting, checking, talking or done; empty before."""
        return str(self.state.get("phase", ""))

    @property
    def is_over(self) -> bool:
        """Return whether nothing more will happen here."""
        return self.gone or self.phase == DONE

    @property
    def has_talked(self) -> bool:
        """Return whether there was a partner to talk with."""
        return "dialog" in self.state

    def greet(self) -> list[Message]:
        """Return what a socket just opened is sent: who it is, and what was not answered."""
        self.cut = False
        self.counts["connections"] += 1
        greeting = {"token": self.token, "again": bool(self.state)}
        return [greeting, *([self._pending] if self._pending else [])]

    def hear(self, message: Mapping[str, Any]) -> list[Message]:
        """Return what is sent in reply; raises StuckError when the server refuses and refuses."""
        kind, self.pause_seconds = message.get("type"), 0.0
        if state := state_after(self.state, message):
            self.state = state
            self.listen(self.state)
        if kind == "taken":
            self._settle(message)
        elif kind == "refused":
            if "wait" in message and self._pending:
                self.pause_seconds = message["wait"]
                return [self._pending]
            self._refused(message)
        elif not state:
            return []
        return self._act()

    def finish(self) -> list[Message]:
        """Return what says that the worker waits no longer."""
        waits = self.phase == WAITING and not self._pending
        return self._send({"type": "finish"}) if waits else []

    def _settle(self, message: Mapping[str, Any]) -> None:
        if self._pending and message.get("id") == self._pending["id"]:
            self.taken.append(self._pending)
            self.counts[f"{self._pending['type']} taken"] += 1
            self._pending, self._n_refused = None, 0

    def _refused(self, message: Mapping[str, Any]) -> None:
        """Think again, unless it was a message sent twice of which the first one counted."""
        if "id" not in message:
            raise StuckError(f"The socket was refused: {message.get('message')}")
        if not self._pending or message["id"] != self._pending["id"]:
            return
        self.counts["refused"] += 1
        self._n_refused += 1
        if self._n_refused > MOST_REFUSALS:
            raise StuckError(f"A move was refused: {message.get('message')} {self._pending}")
        self._pending, self._moved_at = None, ()

    def _act(self) -> list[Message]:
        if self._pending or self.is_over:
            return []
        dialog = self.state.get("dialog") or {}
        if self.phase == CHECKING and not dialog.get("ready"):
            return self._once(
                (dialog.get("id"), "ready"), lambda: {"type": "ready", "dialog": dialog["id"]}
            )
        if self.phase != TALKING or dialog.get("to_move") != dialog.get("role"):
            return []
        return self._move(dialog)

    def _move(self, dialog: Mapping[str, Any]) -> list[Message]:
        if self._silent is None:
            self._silent = self.rng.random() < self.behaviour.silent
        if self._silent:
            return []
        if self.rng.random() < self.behaviour.leaves:
            self.gone = True
            return []
        turns = dialog["turns"]
        place = (dialog["id"], len(turns), bool(turns and turns[-1]["answer"]))
        return self._once(place, lambda: {**self.speak(dialog), "dialog": dialog["id"]})

    def _once(self, place: tuple[Any, ...], move: Callable[[], Message]) -> list[Message]:
        if place == self._moved_at:
            return []
        self._moved_at = place
        return self._send(move())

    def _send(self, move: Message) -> list[Message]:
        self._pending = {**move, "id": str(UUID(int=self.rng.getrandbits(128), version=4))}
        self.cut = self.rng.random() < self.behaviour.cut_off
        twice = self.rng.random() < self.behaviour.sends_twice
        self.counts["sent twice"] += twice
        return [self._pending] * (2 if twice else 1)


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
