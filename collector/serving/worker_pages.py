"""Leads what workers ask for past everything that is there for requesters alone."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.module_loading import import_string

Answer = Callable[[HttpRequest], HttpResponseBase]


class WorkerPagesMiddleware:
    """Leaves out the middleware below it for a worker's page: nobody is signed in there.

    What is above it, a page's security headers among it, every page has. The addresses without
    parameters of the URLs in WORKER_URLS are meant; all others take the whole way.
    """

    def __init__(self, get_response: Answer) -> None:
        self.get_response = get_response
        self.view = _innermost(get_response)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer; the length is told here, as CommonMiddleware does for all others."""
        if request.path_info not in self.addresses:
            return self.get_response(request)
        response = self.view(request)
        if not response.streaming and "Content-Length" not in response:
            response.headers["Content-Length"] = str(len(response.content))  # type: ignore[attr-defined]
        return response

    @cached_property
    def addresses(self) -> frozenset[str]:
        """Return the addresses of workers' pages."""
        pages = import_string(f"{settings.WORKER_URLS}.urlpatterns")
        return frozenset(
            reverse(page.name, settings.ROOT_URLCONF)
            for page in pages
            if not page.pattern.converters
        )


def _innermost(handler: Any) -> Answer:
    """Return what calls the view, below every middleware."""
    while inner := getattr(getattr(handler, "__wrapped__", handler), "get_response", None):
        handler = inner
    return handler  # type: ignore[no-any-return]
