"""The sockets of dialogs in one process: its event loop by the virtual clock, and its Redis."""

import asyncio
import random
from collections import deque
from collections.abc import Callable
from typing import Any

from redis.exceptions import ConnectionError as RedisConnectionError

from tests.simulator.machine import TIME

Event = tuple[int, dict[str, Any]]


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop that goes on only in `settle`, and only as far as the clock has come."""

    chance = random.Random(0)

    def time(self) -> float:
        """Return the virtual time."""
        return TIME.seconds

    def run_in_executor(self, executor: Any, function: Any, *given: Any) -> Any:
        """Run what would run in a thread, at some turn of the loop."""
        done = self.create_future()

        def run() -> None:
            if done.cancelled():
                return
            # A thread has no loop of its own.
            asyncio.events._set_running_loop(None)
            try:
                done.set_result(function(*given))
            except Exception as error:
                done.set_exception(error)
            finally:
                asyncio.events._set_running_loop(self)

        if self.chance.random() < 0.2:
            self.call_later(self.chance.choice((0.01, 0.03, 0.3)), run)
        else:
            self.call_soon(run)
        return done

    def settle(self) -> None:
        """Run all that is due now."""
        asyncio.events._set_running_loop(self)
        try:
            while self._ready or self._is_due():  # type: ignore[attr-defined]
                self._run_once()  # type: ignore[attr-defined]
        finally:
            asyncio.events._set_running_loop(None)

    def _is_due(self) -> bool:
        scheduled = self._scheduled  # type: ignore[attr-defined]
        return bool(scheduled) and scheduled[0]._when <= self.time()


class Sockets:
    """The open sockets of a process, by numbers; what they were sent waits in `sent`."""

    def __init__(self, process: str, ask: Callable[..., Any]) -> None:
        from tasks.dialog import notifier as bell

        self.process, self.loop = process, VirtualLoop()
        self.ask, self.sent, self.lines = ask, deque[Event](), list[Subscription]()
        self.open: dict[int, asyncio.Queue[dict[str, Any]]] = {}
        # What others say arrives through the run.
        bell.AsyncRedis = bell.Redis = SimulatedRedis(self)  # type: ignore[assignment, misc]

    def begin(self, number: int) -> None:
        """Open a socket, as a page of ours does."""
        from django.conf import settings

        from tasks.dialog.socket import serve_dialog

        incoming = self.open[number] = asyncio.Queue()
        incoming.put_nowait({"type": "websocket.connect"})

        async def send(event: dict[str, Any]) -> None:
            self.sent.append((number, event))

        scope = {"headers": [(b"origin", settings.COLLECTOR_URL.encode())]}
        self.loop.create_task(serve_dialog(scope, incoming.get, send))

    def say(self, number: int, text: str) -> None:
        """Let a page say something."""
        self.open[number].put_nowait({"type": "websocket.receive", "text": text})

    def cut(self, number: int) -> None:
        """Let a page's socket be closed from its side."""
        if incoming := self.open.pop(number, None):
            incoming.put_nowait({"type": "websocket.disconnect", "code": 1006})

    def hear(self, channel: str, data: bytes) -> None:
        """Let this process hear what another has published."""
        for line in self.lines:
            if channel in line.channels:
                line.messages.put_nowait({"type": "message", "data": data})

    def lose_redis(self) -> None:
        """Let the line to others be cut."""
        for line in self.lines:
            line.messages.put_nowait({"type": "lost"})

    def settle(self) -> list[Event]:
        """Run all that is due; return what sockets were sent."""
        self.loop.settle()
        sent, self.sent = [*self.sent], deque()
        return sent


class SimulatedRedis:
    """As much of a Redis client as pages of dialogs need, synchronous and not."""

    def __init__(self, sockets: Sockets) -> None:
        self._sockets = sockets

    def from_url(self, *_: Any, **__: Any) -> Any:
        """Return a client."""
        return _Client(self._sockets)


class _Client:
    def __init__(self, sockets: Sockets) -> None:
        self._sockets = sockets
        self._written: list[tuple[str, bytes]] = []

    def publish(self, channel: str, data: bytes) -> Any:
        heard = self._sockets.ask("publish", self._sockets.process, channel, data)
        if heard is None:
            raise RedisConnectionError("Redis is away.")
        return _Known(heard)

    def pipeline(self, transaction: bool) -> "_Pipeline":
        return _Pipeline(self)

    def pubsub(self) -> "Subscription":
        return Subscription(self._sockets)


class _Known(int):
    """A number that may be awaited too."""

    def __await__(self) -> Any:
        return int(self)
        yield


class _Pipeline:
    def __init__(self, client: _Client) -> None:
        self._client, self._written = client, list[tuple[str, bytes]]()

    async def __aenter__(self) -> "_Pipeline":
        return self

    async def __aexit__(self, *_: object) -> None:
        self._written.clear()

    def publish(self, channel: str, data: bytes) -> None:
        self._written.append((channel, data))

    async def execute(self) -> list[int]:
        return [int(self._client.publish(*each)) for each in self._written]


class Subscription:
    """One line on which published messages are heard."""

    def __init__(self, sockets: Sockets) -> None:
        self._sockets, self.channels = sockets, set[str]()
        self.messages: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def __aenter__(self) -> "Subscription":
        self._sockets.lines.append(self)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._sockets.lines.remove(self)

    async def subscribe(self, *channels: str) -> None:
        """Hear these channels from now on."""
        for number, channel in enumerate(channels, 1):
            if not self._sockets.ask("subscribe", self._sockets.process, channel):
                raise RedisConnectionError("Redis is away.")
            self.channels.add(channel)
            self.messages.put_nowait({"type": "subscribe", "data": number})

    async def get_message(self, timeout: float) -> dict[str, Any] | None:
        """Return the next message, None where none comes in time."""
        try:
            async with asyncio.timeout(timeout):
                message = await self.messages.get()
        except TimeoutError:
            return None
        if message["type"] == "lost":
            raise RedisConnectionError("Redis is away.")
        return message

    async def ping(self) -> None:
        """Try whether the line is alive."""
        if not self._sockets.ask("subscribe", self._sockets.process, ""):
            raise RedisConnectionError("Redis is away.")
