"""Tells other processes over Redis which pages are to look at the rows, and of moves stored there.

Each process says whose pages it has, so that others tell of them there alone. A ring that cannot be
carried now is carried later; until then every process looks by itself.
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
# More than are at work at once; whoever is dropped for others is looked for everywhere.
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


class Whereabouts:
    """The processes of each ticket that have said so, and how many there are, as its row says.

    Where a row counts more than have spoken, nobody knows where they are.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, Places]] = {}

    def note(self, ticket_id: int, process: str, is_here: bool, number: int) -> None:
        """Note that a process has the ticket's pages or not any more, as one of so many."""
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
class Letter:
    """What is said at once: whose pages are to look, what is told of whom, who came or went.

    `moved` has each ticket with what was said of it last.
    """

    rung: dict[int, None] = field(default_factory=dict)
    told: list[tuple[list[int], Any]] = field(default_factory=list)
    moved: dict[int, list[Any]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.rung or self.told or self.moved)

    def tickets(self) -> Iterable[int]:
        """Return whose pages it concerns."""
        return chain(self.rung, *(ticket_ids for ticket_ids, _ in self.told))


class Bell:
    """One process's line to all others of this site; without Redis there are no others.

    hear: called with the tickets that another process has rung. be_told: called with what another
    process has told of some tickets. meet: called with a ticket whose pages have come to another
    process, and with what they were shown there. catch_up: called when others are heard again, of
    whom some is lost.
    """

    def __init__(
        self,
        hear: Callable[[list[int]], None],
        be_told: Callable[[list[int], Any], None],
        meet: Callable[[int, Any], None],
        catch_up: Callable[[], None],
    ) -> None:
        self._hear, self._be_told, self._meet, self._catch_up = hear, be_told, meet, catch_up
        self._own = uuid4().hex
        self._whereabouts = Whereabouts()
        self._unsaid = Letter()
        self._next_at = 0.0
        self._is_heard = False
        self._listening: asyncio.Task[None] | None = None
        self._ringing: asyncio.Task[None] | None = None
        self._client: AsyncRedis | None = None

    @property
    def is_heard(self) -> bool:
        """Return whether the rings of other processes are heard here."""
        return self._is_heard or not settings.REDIS_URL

    def listen(self) -> None:
        """Hear others from now on, however often the line is lost."""
        if settings.REDIS_URL and (self._listening is None or self._listening.done()):
            self._listening = asyncio.create_task(self._listen())

    def elsewhere(self, ticket_ids: Iterable[int]) -> list[int]:
        """Return those of the tickets that are, as far as is known, at other processes too."""
        if not settings.REDIS_URL:
            return []
        return [each for each in ticket_ids if self._places(each)]

    def ring(self, ticket_ids: Iterable[int]) -> None:
        """Let pages of these tickets look that are at other processes."""
        self._unsaid.rung.update(dict.fromkeys(self.elsewhere(ticket_ids)))
        self._begin_to_ring()

    def tell(self, ticket_ids: list[int], news: Any) -> None:
        """Tell other processes news of these tickets, JSON that spares their pages the look."""
        if elsewhere := self.elsewhere(ticket_ids):
            self._unsaid.told.append((elsewhere, news))
            self._begin_to_ring()

    def say_where(self, ticket_id: int, is_here: bool, number: int, shown: Any = None) -> None:
        """Say that the ticket's pages are at this process or not any more, as one of so many.

        shown: JSON of what they show; a process that has shown more lets them look.
        """
        if not settings.REDIS_URL:
            return
        self._whereabouts.note(ticket_id, self._own, is_here, number)
        self._unsaid.moved[ticket_id] = [ticket_id, is_here, number, shown]
        self._begin_to_ring()

    def _begin_to_ring(self) -> None:
        is_ringing = self._ringing is not None and not self._ringing.done()
        if not is_ringing and self._unsaid:
            self._ringing = asyncio.create_task(self._ring_all())

    def _places(self, ticket_id: int) -> list[str]:
        """Return the other processes at which the ticket's pages are, or may be."""
        places = self._whereabouts.of(ticket_id)
        return [EVERYBODY] if places is None else [each for each in places if each != self._own]

    @staticmethod
    def ring_once(ticket_ids: list[int]) -> None:
        """Let pages of these tickets look, from a process that serves none itself."""
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

    async def _ring_all(self) -> None:
        """Ring until there is nobody left; those that come meanwhile are rung together."""
        loop = asyncio.get_running_loop()
        while self._unsaid:
            if not self._unsaid.rung and (early := self._next_at - loop.time()) > 0:
                await asyncio.sleep(early)
            self._next_at = loop.time() + APART_SECONDS
            said, self._unsaid = self._unsaid, Letter()
            letters = self._addressed(said)
            try:
                heard = await self._send(letters)
            except LOST as error:
                log.warning("Pages could not be notified: %r", error)
                # News is old then: let them look.
                self._unsaid.rung.update(dict.fromkeys(said.tickets()))
                self._unsaid.moved = said.moved | self._unsaid.moved
                await asyncio.sleep(PAUSE_SECONDS * random.uniform(0.5, 1.0))
                continue
            for (process, letter), number in zip(letters.items(), heard, strict=True):
                if process and not number:
                    self._lose(letter)

    async def _send(self, letters: dict[str, Letter]) -> list[int]:
        """Return by how many processes each letter was heard; raises one of LOST."""
        written = {_channel_of(to): self._written(letter) for to, letter in letters.items()}
        if len(written) == 1:
            # As it mostly is: a pipeline is for several, and costs more.
            ((channel, text),) = written.items()
            return [await self._redis().publish(channel, text)]
        async with self._redis().pipeline(transaction=False) as line:
            for channel, text in written.items():
                line.publish(channel, text)
            heard: list[int] = await line.execute()
        return heard

    def _addressed(self, said: Letter) -> dict[str, Letter]:
        """Return what is said to whom; who has come or gone, everybody hears first."""
        letters: dict[str, Letter] = defaultdict(Letter)
        if said.moved:
            letters[EVERYBODY].moved = said.moved
        for ticket_id in said.rung:
            for process in self._places(ticket_id):
                letters[process].rung[ticket_id] = None
        for ticket_ids, news in said.told:
            there: dict[str, list[int]] = defaultdict(list)
            for ticket_id in ticket_ids:
                for process in self._places(ticket_id):
                    there[process].append(ticket_id)
            for process, concerned in there.items():
                letters[process].told.append((concerned, news))
        if EVERYBODY in letters and len(letters) == 2:
            # Two letters cost twice as much, and that process hears this one anyway.
            common = letters.pop(EVERYBODY)
            ((_, own),) = letters.items()
            own.moved = common.moved
            own.rung |= common.rung
            own.told += common.told
            return {EVERYBODY: own}
        return letters

    def _written(self, letter: Letter) -> bytes:
        return orjson.dumps([self._own, list(letter.rung), letter.told, [*letter.moved.values()]])

    def _lose(self, letter: Letter) -> None:
        """Let all look to whom a letter did not come: the process has died without a word."""
        for ticket_id in letter.tickets():
            self._whereabouts.forget(ticket_id)
            self._unsaid.rung[ticket_id] = None

    async def _listen(self) -> None:
        while True:
            try:
                async with self._redis().pubsub() as line:
                    await line.subscribe(*map(_channel_of, (EVERYBODY, self._own)))
                    await self._hear_all(line)
            except LOST as error:
                log.warning("Other processes are not heard: %r", error)
            self._is_heard = False
            self._whereabouts.forget_all()
            await asyncio.sleep(PAUSE_SECONDS * random.uniform(0.5, 1.0))

    async def _hear_all(self, line: Any) -> None:
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
                self._is_heard = True
                # Who has come or gone meanwhile was not heard either.
                self._whereabouts.forget_all()
                self._catch_up()
            elif message["type"] == "message":
                self._take(message["data"])

    def _take(self, data: bytes) -> None:
        with contextlib.suppress(ValueError, TypeError):
            sender, rung, told, moved = [*orjson.loads(data), [], []][:4]
            if sender == self._own:
                return
            for ticket_id, is_here, number, shown in moved:
                self._whereabouts.note(ticket_id, sender, is_here, number)
                if shown:
                    self._meet(ticket_id, shown)
            self._hear(rung)
            for concerned, news in told:
                self._be_told(concerned, news)


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
