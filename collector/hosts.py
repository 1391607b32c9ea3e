"""Chooses by Host which site answers: Collector's own, or the marketplace embedded beside it."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest


class HostMiddleware:
    """Sets the request's URLs by its host; a host that nobody serves is answered with 400."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        host = request.META.get("HTTP_HOST", "").rsplit(":", 1)[0]
        urlconf = settings.HOST_URLCONFS.get(host)
        if urlconf is None:
            return HttpResponseBadRequest(
                f"Nothing is served under this host. Open {settings.COLLECTOR_URL} instead.",
                content_type="text/plain",
            )
        request.urlconf = urlconf  # type: ignore[attr-defined]
        return self.get_response(request)
