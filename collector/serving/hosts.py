"""Chooses by Host which site answers: Collector's own, or the marketplace embedded beside it."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.template.loader import render_to_string


class HostMiddleware:
    """Sets the request's URLs by its host; a host that nobody serves is answered with 400."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        # Names of hosts are written in any case (RFC 9110, 4.2.3).
        host = request.META.get("HTTP_HOST", "").rsplit(":", 1)[0].lower()
        urlconf = settings.HOST_URLCONFS.get(host)
        if urlconf is None:
            return _unknown()
        request.urlconf = urlconf  # type: ignore[attr-defined]
        return self.get_response(request)


def _unknown() -> HttpResponse:
    """Return the page for another name; its style comes from the site's own, as nothing else is."""
    workers = settings.MARKETPLACE_URL if settings.EMBEDDED else ""
    addresses = {"home": settings.COLLECTOR_URL, "workers": workers}
    return HttpResponseBadRequest(render_to_string("unknown_host.html", addresses))
