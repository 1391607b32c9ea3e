"""Prepares and serves Collector in one process: databases, requester account, jobs, pages."""

import asyncio
import logging
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command

from collector.models import Collection
from collector.serving.job_queue import jobs
from collector.serving.plan import LONGEST_MESSAGE_BYTES, PING_SECONDS
from common.safe_files import private_text

log = logging.getLogger(__name__)
REQUESTER = "The dataset team"
# Every address under which HITs went up, one a line.
ADDRESSES = "addresses"


def prepare() -> None:
    """Bring every database up to date and make the embedded marketplace's requester account.

    Raises ImproperlyConfigured where both sites have one host name: only that tells them apart.
    """
    if settings.EMBEDDED and settings.COLLECTOR_HOST == settings.MARKETPLACE_HOST:
        raise ImproperlyConfigured(
            f"COLLECTOR_URL and MARKETPLACE_URL both have the host {settings.COLLECTOR_HOST}: give "
            "them two, such as localhost and 127.0.0.1, or serve each by a process of its own "
            "(serve)."
        )
    call_command("migrate", verbosity=0)
    if settings.EMBEDDED:
        # Its tables alone live there: all others' migrations would be walked through for nothing.
        call_command("migrate", "marketplace", database="marketplace", verbosity=0)
        make_requester()
        path = settings.HOME / ADDRESSES
        known = path.read_text("utf-8").split() if path.exists() else []
        if settings.COLLECTOR_URL not in known:
            private_text(path, "\n".join([*known, settings.COLLECTOR_URL, ""]))
        # A collection is still held by the process before this one, stopped amid a round.
        Collection.objects.filter(maintained_until__isnull=False).update(maintained_until=None)


def make_requester(**told: str) -> None:
    """Make the embedded marketplace's requester account, unless there is one.

    told: what workers read of it, `contact` and `payment_terms`; what is given replaces.
    """
    call_command(
        "create_requester",
        REQUESTER,
        keys_file=str(settings.MTURK_KEYS_FILE),
        endpoint_url=settings.MARKETPLACE_URL,
        verbosity=0,
        **told,
    )


def adopt_moved_hits() -> None:
    """Show our HITs that went up under another address of this site, such as another port, here.

    Workers at work go on. Another requester's site may be there now: its HITs stay. The
    addresses are kept in a file beside the databases.
    """
    path = settings.HOME / ADDRESSES
    known = path.read_text("utf-8").split() if path.exists() else []
    for old in known:
        if old != settings.COLLECTOR_URL:
            call_command(
                "move_questions", old, settings.COLLECTOR_URL, requester=REQUESTER, verbosity=0
            )
    private_text(path, f"{settings.COLLECTOR_URL}\n")


def server(port: int) -> Any:
    """Return the web server, not started yet, bound to this machine alone."""
    import uvicorn

    # Static files are read synchronously here; in production the front server serves them.
    warnings.filterwarnings("ignore", "StreamingHttpResponse must consume synchronous iterators")
    from collector.asgi import application

    config = uvicorn.Config(
        application,
        host="127.0.0.1",
        port=port,
        log_level="warning",
        lifespan="off",
        ws="websockets-sansio",
        ws_ping_interval=PING_SECONDS,
        ws_ping_timeout=PING_SECONDS,
        ws_max_size=LONGEST_MESSAGE_BYTES,
        ws_per_message_deflate=False,
        # A shorter time makes a client's next request race with the closing of its connection.
        timeout_keep_alive=75,
    )

    class Server(uvicorn.Server):
        """Looks whether it is to stop twice a second: ten times are half of what idling costs."""

        async def main_loop(self) -> None:
            """Wait until it is; the server's own count is in tenths of a second."""
            tenths = 0
            while not await self.on_tick(tenths):
                await asyncio.sleep(0.5)
                tenths = (tenths + 5) % 864_000

    return Server(config)


@contextmanager
def serving(port: int) -> Iterator[None]:
    """Serve in a thread, jobs running, until the block is left; raises OSError for a taken port."""
    web = server(port)
    thread = threading.Thread(target=web.run, name="web", daemon=True)
    thread.start()
    while not web.started:
        if not thread.is_alive():
            raise OSError(f"Port {port} is taken: set PORT to a free one.")
        time.sleep(0.02)
    jobs.start()
    try:
        yield
    finally:
        jobs.stop()
        web.should_exit = True
        thread.join(timeout=10)
