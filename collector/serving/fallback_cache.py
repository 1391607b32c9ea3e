"""The cache in Redis, and in this process's memory while Redis is away: no page fails for it."""

import logging
import random
import time
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache

log = logging.getLogger(__name__)
# Nobody waits longer for what is only kept for convenience.
ANSWER_SECONDS = 2.0
# After a failure it is asked again when so much time has passed, by each process at its own.
PAUSE_SECONDS = 5.0
_again_at = [0.0]


class FallbackCache(BaseCache):
    """Keeps what the other keeps; what an outage hides is as if it had been dropped."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        """Make the cache at the address `server`."""
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        super().__init__(params)
        options = {
            "socket_timeout": ANSWER_SECONDS,
            "socket_connect_timeout": ANSWER_SECONDS,
            "retry": Retry(NoBackoff(), 0),
        }
        self._there = RedisCache(server, {**params, "OPTIONS": options})
        self._here = LocMemCache("while Redis is away", params)

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        """Return a value, or the default."""
        return self._ask("get", key, default, version)

    def set(
        self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> None:
        """Keep a value for `timeout` seconds."""
        self._ask("set", key, value, timeout, version)

    def add(
        self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> bool:
        """Keep a value unless there is one; return whether it was kept."""
        return bool(self._ask("add", key, value, timeout, version))

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        """Add to a number that is kept, and return it."""
        return int(self._ask("incr", key, delta, version))

    def touch(self, key: str, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        """Keep a value for longer; return whether there was one."""
        return bool(self._ask("touch", key, timeout, version))

    def delete(self, key: str, version: int | None = None) -> bool:
        """Drop a value; return whether there was one."""
        return bool(self._ask("delete", key, version))

    def clear(self) -> None:
        """Drop everything."""
        self._here.clear()
        self._ask("clear")

    def _ask(self, name: str, *arguments: Any) -> Any:
        from redis.exceptions import RedisError

        if time.monotonic() >= _again_at[0]:
            try:
                return getattr(self._there, name)(*arguments)
            except RedisError as error:
                _again_at[0] = time.monotonic() + PAUSE_SECONDS * random.uniform(0.5, 1.0)
                log.warning("The cache does not answer: %s", error)
        if name == "incr":
            # Its beginning may have been kept where nobody answers now.
            self._here.add(arguments[0], 0, version=arguments[2])
        return getattr(self._here, name)(*arguments)
