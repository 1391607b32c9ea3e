"""Few threads for what sockets ask of the database, each with a connection of its own."""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from django.db import DatabaseError, close_old_connections

# One thread a socket would be too many connections to the database.
WORKERS = 8
THREADS = ThreadPoolExecutor(max_workers=WORKERS, thread_name_prefix="dialog")
# How long a thread trusts its connection.
CHECK_SECONDS = 5.0
_checked = threading.local()
Result = TypeVar("Result")


async def in_thread(function: Callable[..., Result], *arguments: Any, **named: Any) -> Result:
    """Return what the function returns, run in one of the threads."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(THREADS, lambda: _connected(function, *arguments, **named))


def _connected(function: Callable[..., Result], *arguments: Any, **named: Any) -> Result:
    """Run a function in a thread that lets go of a connection that is old or has failed."""
    if time.monotonic() > getattr(_checked, "until", 0.0):
        # Not each time: Django asks the database then whether it is still there.
        close_old_connections()
        _checked.until = time.monotonic() + CHECK_SECONDS
    try:
        return function(*arguments, **named)
    except DatabaseError:
        close_old_connections()
        raise
