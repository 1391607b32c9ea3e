"""Tells open pages to look: what there is to see they read from the rows."""

import asyncio
import logging
import time
from collections.abc import Iterable

from asgiref.sync import async_to_sync

NOTIFIED = "notified"
log = logging.getLogger(__name__)
# The loop that serves this process's sockets, once it serves one: jobs may run in its threads.
_serving: "list[asyncio.AbstractEventLoop]" = []
# A notice that takes longer than this tells that the layer was away: others are lost meanwhile.
SLOW_SECONDS = 1.0
# For so long after that pages look by themselves.
SHAKY_SECONDS = 12.0
_shaky_until = [0.0]


def group_of(ticket_id: int) -> str:
    """Return the name of the group that the sockets of a ticket listen to."""
    return f"ticket.{ticket_id}"


def serve_here() -> None:
    """Remember the running loop as the one that serves sockets in this process."""
    _serving[:] = [asyncio.get_running_loop()]


def notify(ticket_ids: Iterable[int]) -> None:
    """Notify the holders of these tickets, from a job; call it once the rows are committed."""
    if _serving and _serving[0].is_running():
        # Queues in this process's memory belong to their loop alone.
        asyncio.run_coroutine_threadsafe(notify_all(list(ticket_ids)), _serving[0])
    else:
        async_to_sync(notify_all)(list(ticket_ids))


async def notify_all(ticket_ids: Iterable[int], by: str = "") -> None:
    """Notify the holders of these tickets; the socket `by` knows already.

    A notice that cannot be carried is made good by every page's next look, so nothing is raised.
    """
    from channels.layers import get_channel_layer

    layer, began, failed = get_channel_layer(), time.monotonic(), False
    try:
        for ticket_id in dict.fromkeys(ticket_ids):
            await layer.group_send(group_of(ticket_id), {"type": NOTIFIED, "by": by})
    except Exception as error:
        failed = True
        log.warning("Pages could not be notified: %r", error)
    now = time.monotonic()
    if failed or now - began > SLOW_SECONDS:
        _shaky_until[0] = now + SHAKY_SECONDS


def is_shaky() -> bool:
    """Return whether notices of this process were just lost, or may be."""
    return time.monotonic() < _shaky_until[0]
