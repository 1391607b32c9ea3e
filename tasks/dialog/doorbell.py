"""Tells open pages to look: what there is to see they read from the rows."""

import asyncio
import logging
from collections.abc import Iterable

from asgiref.sync import async_to_sync

RUNG = "rung"
log = logging.getLogger(__name__)
# The loop that serves this process's sockets, once it serves one: jobs may run in its threads.
_serving: "list[asyncio.AbstractEventLoop]" = []


def group_of(ticket_id: int) -> str:
    """Return the name of the group that the sockets of a ticket listen to."""
    return f"ticket.{ticket_id}"


def serve_here() -> None:
    """Remember the running loop as the one that serves sockets in this process."""
    _serving[:] = [asyncio.get_running_loop()]


def ring(ticket_ids: Iterable[int]) -> None:
    """Ring for the holders of these tickets, from a job; call it once the rows are committed."""
    if _serving and _serving[0].is_running():
        # Queues in this process's memory belong to their loop alone.
        asyncio.run_coroutine_threadsafe(ring_all(list(ticket_ids)), _serving[0])
    else:
        async_to_sync(ring_all)(list(ticket_ids))


async def ring_all(ticket_ids: Iterable[int], by: str = "") -> None:
    """Ring for the holders of these tickets; the socket `by` knows already.

    A ring that cannot be carried is made good by every page's next look, so nothing is raised.
    """
    from channels.layers import get_channel_layer

    layer = get_channel_layer()
    try:
        for ticket_id in dict.fromkeys(ticket_ids):
            await layer.group_send(group_of(ticket_id), {"type": RUNG, "by": by})
    except Exception as error:
        log.warning("Pages could not be rung: %r", error)
