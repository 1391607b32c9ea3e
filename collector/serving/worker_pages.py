"""Leads what workers ask for past everything that is there for requesters alone."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, cast

from django.conf import settings
from django.core.handlers.exception import convert_exception_to_response
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import ResolverMatch, get_resolver, reverse
from django.utils.module_loading import import_string

from collector.protocols.known import log_once
from collector.protocols.loading import ProtocolError

Answer = Callable[[HttpRequest], HttpResponseBase]


class WorkerPagesMiddleware:
    """Leaves out the middleware below it for a worker's page: nobody is signed in there.

    What is above it, a page's security headers among it, every page has. The addresses without
    parameters of the URLs in WORKER_URLS are meant, whose views are known without looking for
    them; all others take the whole way.
    """

    def __init__(self, get_response: Answer) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer; the length is told here, as CommonMiddleware does for all others."""
        found = self.pages.get(request.path_info)
        # An embedded marketplace may have such an address, too.
        if found is None or getattr(request, "urlconf", "") != settings.ROOT_URLCONF:
            return self.get_response(request)
        request.resolver_match, answer = found
        response = answer(request)
        if not response.streaming and "Content-Length" not in response:
            response.headers["Content-Length"] = str(len(response.content))  # type: ignore[attr-defined]
        return response

    @cached_property
    def pages(self) -> dict[str, tuple[ResolverMatch, Answer]]:
        """Return what answers at the address of each worker's page, whatever its view raises."""
        resolver = get_resolver(settings.ROOT_URLCONF)
        addresses = [
            reverse(page.name, settings.ROOT_URLCONF)
            for page in import_string(f"{settings.WORKER_URLS}.urlpatterns")
            if not page.pattern.converters
        ]
        matches = {address: resolver.resolve(address) for address in addresses}
        return {
            address: (
                match,
                cast(Answer, convert_exception_to_response(_read_or_sorry(match.func))),
            )
            for address, match in matches.items()
        }


def _read_or_sorry(view: Any) -> Answer:
    """Return the view, with a page in place of a fault where this process lacks the protocol."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        try:
            return cast(HttpResponseBase, view(request))
        except ProtocolError as error:
            log_once(error)
            sorry = import_string(f"{settings.WORKER_URLS}.cannot_be_shown")
            said = cast(HttpResponseBase, sorry(request))
            # The line above says it all, and not with every visit.
            said._has_been_logged = True  # type: ignore[attr-defined]
            return said

    return answer
