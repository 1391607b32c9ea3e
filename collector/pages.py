"""Answers pages for an ASGI server, in threads that keep their connections to the databases."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.base import BaseHandler
from django.db import connections
from django.http import HttpRequest
from django.http.response import HttpResponseBase

# So many threads wait for the next request; a crowd's others end with their request.
MOST_IDLE = 8


class Pages(ASGIHandler):
    """Django's pages, each wholly in one thread: nothing of ours awaits anything there.

    Django's own handler starts threads and connects anew for every request, and changes between
    threads and the loop at every middleware.
    """

    def __init__(self) -> None:
        BaseHandler.__init__(self)
        self.load_middleware()
        self._idle: list[ThreadPoolExecutor] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        thread = self._idle.pop() if self._idle else ThreadPoolExecutor(1, "page")
        try:
            async with ThreadSensitiveContext(executor=thread):
                await self.handle(scope, receive, send)
        finally:
            # It may still be busy for somebody who has gone away.
            thread.submit(self._rest, thread)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response, made in the request's thread."""
        return await sync_to_async(self.get_response)(request)

    def _rest(self, thread: ThreadPoolExecutor) -> None:
        """Wait for the next request in this thread, or end it where enough others do."""
        if len(self._idle) < MOST_IDLE:
            self._idle.append(thread)
            return
        connections.close_all()
        thread.shutdown(wait=False)
