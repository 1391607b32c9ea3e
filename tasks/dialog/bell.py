"""Tells other processes over Redis which pages are to look at the rows, and of moves stored there.

A ring that cannot be carried now is carried later; until then every process looks by itself.
"""

import asyncio
import contextlib
import hashlib
import logging
import random
from collections.abc import Callable, Iterable
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

log = logging.getLogger(__name__)
# Nobody waits longer for Redis, and it is asked again after such a pause.
ANSWER_SECONDS = 2.0
PAUSE_SECONDS = 1.0
# A line on which nothing was heard for so long is tried, and given up when it stays silent.
QUIET_SECONDS = 4.0
LOST = (RedisError, OSError)


class Bell:
    """One process's line to all others of this site; without Redis there are no others.

    hear: called with the tickets that another process has rung. be_told: called with what another
    process has told of some tickets. catch_up: called when others are heard again, of whom some is
    lost.
    """

    def __init__(
        self,
        hear: Callable[[list[int]], None],
        be_told: Callable[[list[int], Any], None],
        catch_up: Callable[[], None],
    ) -> None:
        self._hear, self._be_told, self._catch_up = hear, be_told, catch_up
        self._own = uuid4().hex
        self._to_ring: dict[int, None] = {}
        self._to_tell: list[tuple[list[int], Any]] = []
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

    def ring(self, ticket_ids: Iterable[int]) -> None:
        """Let pages of these tickets look that are at other processes."""
        if not settings.REDIS_URL:
            return
        self._to_ring.update(dict.fromkeys(ticket_ids))
        self._begin_to_ring()

    def tell(self, ticket_ids: list[int], news: Any) -> None:
        """Tell other processes news of these tickets, JSON that spares their pages the look."""
        if not settings.REDIS_URL or not ticket_ids:
            return
        self._to_tell.append((ticket_ids, news))
        self._begin_to_ring()

    def _begin_to_ring(self) -> None:
        is_ringing = self._ringing is not None and not self._ringing.done()
        if not is_ringing and (self._to_ring or self._to_tell):
            self._ringing = asyncio.create_task(self._ring_all())

    @staticmethod
    def ring_once(ticket_ids: list[int]) -> None:
        """Let pages of these tickets look, from a process that serves none itself."""
        if not settings.REDIS_URL:
            return
        try:
            _sender().publish(_channel(), orjson.dumps([None, ticket_ids]))
        except LOST as error:
            log.warning("Pages could not be notified: %r", error)

    def _redis(self) -> AsyncRedis:
        if self._client is None:
            self._client = AsyncRedis.from_url(settings.REDIS_URL, **_impatient(AsyncRetry))
        return self._client

    async def _ring_all(self) -> None:
        """Ring until there is nobody left; those that come meanwhile are rung together."""
        while self._to_ring or self._to_tell:
            wanted, self._to_ring = self._to_ring, {}
            told, self._to_tell = self._to_tell, []
            try:
                await self._redis().publish(
                    _channel(), orjson.dumps([self._own, list(wanted), told])
                )
            except LOST as error:
                log.warning("Pages could not be notified: %r", error)
                # News is old then: let them look.
                self._to_ring.update(wanted)
                for ticket_ids, _ in told:
                    self._to_ring.update(dict.fromkeys(ticket_ids))
                await asyncio.sleep(PAUSE_SECONDS * random.uniform(0.5, 1.0))

    async def _listen(self) -> None:
        while True:
            try:
                async with self._redis().pubsub() as line:
                    await line.subscribe(_channel())
                    await self._hear_all(line)
            except LOST as error:
                log.warning("Other processes are not heard: %r", error)
            self._is_heard = False
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
            if message["type"] == "subscribe":
                self._is_heard = True
                self._catch_up()
            elif message["type"] == "message":
                self._take(message["data"])

    def _take(self, data: bytes) -> None:
        with contextlib.suppress(ValueError, TypeError):
            sender, ticket_ids, *told = orjson.loads(data)
            if sender == self._own:
                return
            self._hear(ticket_ids)
            for concerned, news in chain.from_iterable(told):
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


@cache
def _channel() -> str:
    """Return this site's channel: a Redis that is shared carries those of all its databases."""
    names = [str(database["NAME"]) for database in settings.DATABASES.values()]
    site = "\n".join([settings.SECRET_KEY, *names])
    return f"collector.dialogs.{hashlib.sha256(site.encode()).hexdigest()[:16]}"
