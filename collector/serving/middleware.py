"""Middleware: the site by its host, the content policy, workers' pages without a session."""

from collections.abc import Callable
from dataclasses import asdict
from functools import cached_property
from typing import Any, cast

from csp.constants import HEADER
from csp.middleware import CSPMiddleware
from csp.utils import build_policy
from django.conf import settings
from django.core.handlers.exception import convert_exception_to_response
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.urls import ResolverMatch, get_resolver, reverse
from django.utils.module_loading import import_string

from collector.protocols.loading import ProtocolError, log_once


class HostMiddleware:
    """Sets the request's URLs by its host; a host that nobody serves is answered with 400."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        # Names of hosts are written in any case (RFC 9110, 4.2.3).
        host = request.META.get("HTTP_HOST", "").rsplit(":", 1)[0].lower()
        urlconf = settings.HOST_URLCONFS.get(host)
        if urlconf is None:
            workers = settings.MARKETPLACE_URL if settings.EMBEDDED else ""
            addresses = {"home": settings.COLLECTOR_URL, "workers": workers}
            return HttpResponseBadRequest(render_to_string("unknown_host.html", addresses))
        request.urlconf = urlconf  # type: ignore[attr-defined]
        return self.get_response(request)


# What a view's decorators have asked for.
ASKED = ("_csp_config", "_csp_update", "_csp_replace")
_written: dict[str, str] = {}


class PolicyMiddleware(CSPMiddleware):
    """django-csp's, for a site without nonces and without policies that only report."""

    def process_request(self, request: HttpRequest) -> None:
        """Make no nonce."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Set the header, unless the view has set its own."""
        if HEADER not in response:
            asked = repr([getattr(response, name, None) for name in ASKED])
            if asked not in _written:
                _written[asked] = build_policy(**asdict(self.get_policy_parts(request, response)))
            response[HEADER] = _written[asked]
        return response


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
