"""The ASGI applications: every page and the sockets of live dialogs, or either of them alone."""

import gc
import os
from typing import Any

import django
from django.conf import settings
from django.http import HttpResponse
from django.utils.module_loading import import_string

from common.asgi_handler import THREADS, THREADS_OF_BOTH_SITES, PagesHandler
from common.outages import hush_server_log

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "collector.settings")
django.setup(set_prefix=False)
# Named as a string, like every upper room here; found once the apps are ready.
serve_dialog = import_string("tasks.dialog.socket.serve_dialog")

# Embedded, a page of Collector waits for one of the marketplace in this very process.
pages = PagesHandler(THREADS_OF_BOTH_SITES if settings.EMBEDDED else THREADS, aside="/health")


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Answer every page, and serve the sockets of live dialogs."""
    await (sockets if scope["type"] == "websocket" else pages)(scope, receive, send)


async def live(scope: Any, receive: Any, send: Any) -> None:
    """Serve the sockets of live dialogs alone."""
    await (sockets if scope["type"] == "websocket" else health_alone)(scope, receive, send)


async def sockets(scope: Any, receive: Any, send: Any) -> None:
    """Serve the sockets that pages of dialogs open; all others are refused."""
    if scope["path"] == "/hit/socket":
        await serve_dialog(scope, receive, send)
        return
    await receive()
    await send({"type": "websocket.close"})


async def health_alone(scope: Any, receive: Any, send: Any) -> None:
    """Answer whether the process is well; nothing else is read, let alone kept."""
    if (scope["method"], scope["path"]) == ("GET", "/health"):
        await pages(scope, receive, send)
        return
    elsewhere = HttpResponse("Live dialogs alone are served here.", "text/plain", 404)
    elsewhere.headers["Connection"] = "close"
    await pages.send_response(elsewhere, send)


hush_server_log("uvicorn")
# What is loaded now stays: no collection looks through it again.
gc.freeze()
