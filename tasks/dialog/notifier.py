"""Notifies other processes over Redis of rows that changed, and of moves that were stored.

Each process reports whose sockets it has, so that others notify it of those alone. A notification
that cannot be sent now is sent later; until then every process reads the rows by itself.
"""

import asyncio
import contextlib
import hashlib
import logging
import random
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from typing import Any
from uuid import uuid4

import orjson
from django.conf import settings
from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

Places = frozenset[str]
# More than are at work at once; a ticket that is dropped for others is looked for everywhere.
MOST = 20_000
log = logging.getLogger(__name__)
# Nobody waits longer for Redis, and it is asked again after such a pause.
ANSWER_SECONDS = 2.0
PAUSE_SECONDS = 1.0
# A line on which nothing was heard for so long is tried, and given up when it stays silent.
QUIET_SECONDS = 4.0
# What is told within so long of the last is told together: no reader notices it.
APART_SECONDS = 0.04
# In place of a process: all of them.
EVERYBODY = ""
LOST = (RedisError, OSError)


class Connections:
    """The processes of each ticket that have said so, and how many there are, as its row says.

    Where a row counts more than have spoken, nobody knows where they are.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, Places]] = {}

    def note(self, ticket_id: int, process: str, is_here: bool, number: int) -> None:
        """Note whether a process has sockets of the ticket, and how many processes have."""
        _, places = self._known.pop(ticket_id, (0, Places()))
        places = places | {process} if is_here else places - {process}
        if not places:
            return
        self._known[ticket_id] = number, places
        if len(self._known) > MOST:
            del self._known[next(iter(self._known))]

    def of(self, ticket_id: int) -> Places | None:
        """Return the processes, None where there may be others."""
        number, places = self._known.get(ticket_id, (1, Places()))
        return places if len(places) >= number else None

    def forget(self, ticket_id: int) -> None:
        """Know nothing more of the ticket: it is looked for everywhere."""
        self._known.pop(ticket_id, None)

    def forget_all(self) -> None:
        """Know nothing more of anybody."""
        self._known.clear()


@dataclass
class Notification:
    """What is sent at once: whose sockets are to read the rows, news, and who came or went.

    `moved` has each ticket with what was said of it last.
    """

    look: dict[int, None] = field(default_factory=dict)
    news: list[tuple[list[int], Any]] = field(default_factory=list)
    moved: dict[int, list[Any]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.look or self.news or self.moved)

    def tickets(self) -> Iterable[int]:
        """Return whose pages it concerns."""
        return chain(self.look, *(ticket_ids for ticket_ids, _ in self.news))


class Notifier:
    """One process's line to all others of this site; without Redis there are no others.

    look: called with the tickets whose rows another process asks to read. receive: called with news
    that another process sends of some tickets. meet: called with a ticket whose sockets came to
    another process, and with what they were shown there. catch_up: called when the line is back,
    after notifications may have been lost.
    """

    def __init__(
        self,
        look: Callable[[list[int]], None],
        receive: Callable[[list[int], Any], None],
        meet: Callable[[int, Any], None],
        catch_up: Callable[[], None],
    ) -> None:
        self._look, self._receive, self._meet, self._catch_up = look, receive, meet, catch_up
        self._own = uuid4().hex
        self._connections = Connections()
        self._unsent = Notification()
        self._next_at = 0.0
        self._is_connected = False
        self._listening: asyncio.Task[None] | None = None
        self._sending: asyncio.Task[None] | None = None
        self._client: AsyncRedis | None = None

    @property
    def is_connected(self) -> bool:
        """Return whether notifications of other processes arrive here."""
        return self._is_connected or not settings.REDIS_URL

    def listen(self) -> None:
        """Listen to others from now on, however often the line is lost."""
        if settings.REDIS_URL and (self._listening is None or self._listening.done()):
            self._listening = asyncio.create_task(self._listen())

    def elsewhere(self, ticket_ids: Iterable[int]) -> list[int]:
        """Return those of the tickets that are, as far as is known, at other processes too."""
        if not settings.REDIS_URL:
            return []
        return [each for each in ticket_ids if self._places(each)]

    def notify(self, ticket_ids: Iterable[int]) -> None:
        """Have sockets of these tickets at other processes read the rows."""
        self._unsent.look.update(dict.fromkeys(self.elsewhere(ticket_ids)))
        self._begin_to_send()

    def send_news(self, ticket_ids: list[int], news: Any) -> None:
        """Send other processes news of these tickets: JSON that spares them reading the rows."""
        if elsewhere := self.elsewhere(ticket_ids):
            self._unsent.news.append((elsewhere, news))
            self._begin_to_send()

    def report_connection(
        self, ticket_id: int, is_here: bool, number: int, shown: Any = None
    ) -> None:
        """Report whether this process has sockets of the ticket, and how many processes have.

        shown: JSON of what they show; a process that has shown more lets them look.
        """
        if not settings.REDIS_URL:
            return
        self._connections.note(ticket_id, self._own, is_here, number)
        self._unsent.moved[ticket_id] = [ticket_id, is_here, number, shown]
        self._begin_to_send()

    def _begin_to_send(self) -> None:
        is_sending = self._sending is not None and not self._sending.done()
        if not is_sending and self._unsent:
            self._sending = asyncio.create_task(self._send_all())

    def _places(self, ticket_id: int) -> list[str]:
        """Return the other processes at which the ticket's pages are, or may be."""
        places = self._connections.of(ticket_id)
        return [EVERYBODY] if places is None else [each for each in places if each != self._own]

    @staticmethod
    def notify_once(ticket_ids: list[int]) -> None:
        """Have sockets of these tickets read the rows, from a process that serves none itself."""
        if not settings.REDIS_URL:
            return
        try:
            _sender().publish(_channel_of(EVERYBODY), orjson.dumps([None, ticket_ids]))
        except LOST as error:
            log.warning("Pages could not be notified: %r", error)

    def _redis(self) -> AsyncRedis:
        if self._client is None:
            self._client = AsyncRedis.from_url(settings.REDIS_URL, **_impatient(AsyncRetry))
        return self._client

    async def _send_all(self) -> None:
        """Send until nothing is left; what comes meanwhile is sent together."""
        loop = asyncio.get_running_loop()
        while self._unsent:
            if not self._unsent.look and (early := self._next_at - loop.time()) > 0:
                await asyncio.sleep(early)
            self._next_at = loop.time() + APART_SECONDS
            unsent, self._unsent = self._unsent, Notification()
            notifications = self._addressed(unsent)
            try:
                n_heard = await self._send(notifications)
            except LOST as error:
                log.warning("Pages could not be notified: %r", error)
                # News is old then: let them look.
                self._unsent.look.update(dict.fromkeys(unsent.tickets()))
                self._unsent.moved = unsent.moved | self._unsent.moved
                await asyncio.sleep(PAUSE_SECONDS * random.uniform(0.5, 1.0))
                continue
            for (process, notification), number in zip(notifications.items(), n_heard, strict=True):
                if process and not number:
                    # The process has died: those who have its sockets now are to read the rows.
                    for ticket_id in notification.tickets():
                        self._connections.forget(ticket_id)
                        self._unsent.look[ticket_id] = None

    async def _send(self, notifications: dict[str, Notification]) -> list[int]:
        """Return by how many processes each notification was heard; raises one of LOST."""
        written = {_channel_of(to): self._written(each) for to, each in notifications.items()}
        if len(written) == 1:
            # As it mostly is: a pipeline is for several, and costs more.
            ((channel, text),) = written.items()
            return [await self._redis().publish(channel, text)]
        async with self._redis().pipeline(transaction=False) as line:
            for channel, text in written.items():
                line.publish(channel, text)
            heard: list[int] = await line.execute()
        return heard

    def _addressed(self, unsent: Notification) -> dict[str, Notification]:
        """Return what is sent to which process; who has come or gone is sent to everybody first."""
        notifications: dict[str, Notification] = defaultdict(Notification)
        if unsent.moved:
            notifications[EVERYBODY].moved = unsent.moved
        for ticket_id in unsent.look:
            for process in self._places(ticket_id):
                notifications[process].look[ticket_id] = None
        for ticket_ids, news in unsent.news:
            there: dict[str, list[int]] = defaultdict(list)
            for ticket_id in ticket_ids:
                for process in self._places(ticket_id):
                    there[process].append(ticket_id)
            for process, concerned in there.items():
                notifications[process].news.append((concerned, news))
        if EVERYBODY in notifications and len(notifications) == 2:
            # Two notifications cost twice as much, and that process hears this one anyway.
            common = notifications.pop(EVERYBODY)
            ((_, own),) = notifications.items()
            own.moved = common.moved
            own.look |= common.look
            own.news += common.news
            return {EVERYBODY: own}
        return notifications

    def _written(self, one: Notification) -> bytes:
        return orjson.dumps([self._own, list(one.look), one.news, [*one.moved.values()]])

    async def _listen(self) -> None:
        while True:
            try:
                async with self._redis().pubsub() as line:
                    await line.subscribe(*map(_channel_of, (EVERYBODY, self._own)))
                    await self._receive_all(line)
            except LOST as error:
                log.warning("Other processes are not heard: %r", error)
            self._is_connected = False
            self._connections.forget_all()
            await asyncio.sleep(PAUSE_SECONDS * random.uniform(0.5, 1.0))

    async def _receive_all(self, line: Any) -> None:
        """Hear until the line is lost; raises one of LOST then."""
        is_tried = False
        while True:
            message = await line.get_message(timeout=QUIET_SECONDS)
            if message is None:
                if is_tried:
                    raise TimeoutError("Redis is silent.")
                await line.ping()
                is_tried = True
                continue
            is_tried = False
            if message["type"] == "subscribe" and message["data"] == 2:
                self._is_connected = True
                # Who has come or gone meanwhile was not heard either.
                self._connections.forget_all()
                self._catch_up()
            elif message["type"] == "message":
                self._take(message["data"])

    def _take(self, data: bytes) -> None:
        with contextlib.suppress(ValueError, TypeError):
            sender, look, news, moved = [*orjson.loads(data), [], []][:4]
            if sender == self._own:
                return
            for ticket_id, is_here, number, shown in moved:
                self._connections.note(ticket_id, sender, is_here, number)
                if shown:
                    self._meet(ticket_id, shown)
            self._look(look)
            for concerned, one in news:
                self._receive(concerned, one)


def _impatient(retry: Any) -> dict[str, Any]:
    return {
        "socket_timeout": ANSWER_SECONDS,
        "socket_connect_timeout": ANSWER_SECONDS,
        "retry": retry(NoBackoff(), 0),
    }


@cache
def _sender() -> Redis:
    return Redis.from_url(settings.REDIS_URL, **_impatient(Retry))


def _channel_of(process: str) -> str:
    return f"{_site()}.{process}" if process else _site()


@cache
def _site() -> str:
    """Return the channel of this site's processes: a Redis may carry those of many databases."""
    names = [str(database["NAME"]) for database in settings.DATABASES.values()]
    site = "\n".join([settings.SECRET_KEY, *names])
    return f"collector.dialogs.{hashlib.sha256(site.encode()).hexdigest()[:16]}"
