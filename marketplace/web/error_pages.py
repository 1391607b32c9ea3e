"""The one error page: for every PageError, and for what went wrong outside every view.

Whatever breaks here would leave the visitor with nothing, so a page that cannot be drawn with the
visitor's session is drawn without it.
"""

from urllib.parse import urlsplit

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, override

from common import outages
from marketplace.languages import ENGLISH, language_active
from marketplace.web import desk_pages, worker_pages
from marketplace.web.desk_pages import Desk, DeskRequest
from marketplace.web.pages import PageError, draw, harden
from marketplace.web.worker_pages import SignedInRequest

NOT_HERE_HEADING = gettext_noop("Not here")
NOT_HERE = PageError(
    gettext_noop("There is no page at this address. It may be mistyped, or what it named is gone."),
)
NOT_ALLOWED = PageError(
    gettext_noop("This page is for somebody else. Go on from the first page."),
    403,
    gettext_noop("Not open to you"),
)
NOT_READ = PageError(
    gettext_noop(
        "What your browser sent was incomplete or too large, so nothing was changed. Go back and "
        "try again with less."
    ),
    400,
    gettext_noop("This could not be read"),
)
BROKEN = PageError(
    gettext_noop("What was saved before is safe. Go back and try again in a moment."),
    500,
    gettext_noop("Something broke on our side"),
)

AWAY = gettext_noop("Back in a moment")
LOOKS_AGAIN = gettext_noop(
    "The marketplace's database does not answer right now. What was saved is safe, and this page "
    "opens itself again."
)
KEPT_HERE = gettext_noop(
    "The marketplace's database does not answer right now. What was saved is safe, and what you "
    "just sent is kept in this page: send it again in a moment."
)
GO_BACK = gettext_noop(
    "The marketplace's database does not answer right now. What was saved is safe: go back and "
    "send the form again in a moment."
)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return the page for an address that leads nowhere, and for whatever ended a page."""
    return _page(request, exception if isinstance(exception, PageError) else NOT_HERE)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return the page for what somebody may not see."""
    return _page(request, NOT_ALLOWED)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return the page for a request that cannot be read."""
    return _page(request, NOT_READ)


def server_error(request: HttpRequest) -> HttpResponse:
    """Return the page for a fault of ours, or for a service that is away; it needs no database."""
    if outages.is_away():
        fields = outages.sent_fields(request)
        sentence = LOOKS_AGAIN if request.method == "GET" else KEPT_HERE if fields else GO_BACK
        again = {"again": {"action": request.get_full_path(), "fields": fields}} if fields else {}
        if request.path.endswith("/externalSubmit"):
            # What a frame has sent is answered in the frame.
            with language_active(request):
                given = {"heading": _(AWAY), "sentence": _(sentence), **again}
                response = render(request, "marketplace/in_frame.html", given)
            return outages.with_retry(request, harden(response, frame_ancestors="'self'"))
        response = _drawn_for_anybody(
            request, PageError(sentence, 503, AWAY), is_bare=True, **again
        )
        return outages.with_retry(request, harden(response))
    return harden(_drawn_for_anybody(request, BROKEN, is_bare=True))


def _page(request: HttpRequest, error: PageError) -> HttpResponse:
    back = _page_before(request) if error.leads_back else ""
    try:
        response = (
            _at_desk(request, error, back) if _is_desk(request) else _at_site(request, error, back)
        )
    except DatabaseError:
        response = _drawn_for_anybody(request, error, came_from=back)
    if error.allowed:
        response["Allow"] = error.allowed
    return harden(response)


def _at_site(request: HttpRequest, error: PageError, back: str) -> HttpResponse:
    session = getattr(request, "worker_session", None) or worker_pages.session_of(request)
    if session is None:
        return _drawn_for_anybody(request, error, came_from=back)
    signed_in: SignedInRequest = request  # type: ignore[assignment]
    signed_in.worker, signed_in.worker_session = session.worker, session
    with language_active(request, session.worker.language):
        return worker_pages.show(
            signed_in, "error.html", error.status, came_from=back, **_words(error)
        )


def _at_desk(request: HttpRequest, error: PageError, back: str) -> HttpResponse:
    at_desk: DeskRequest = request  # type: ignore[assignment]
    if not hasattr(request, "desk"):
        session = desk_pages.session_of(request)
        if session is None:
            return _drawn_for_anybody(request, error, came_from=back)
        at_desk.desk = Desk(session.user, session)
    with override(ENGLISH):
        return desk_pages.show(at_desk, "error.html", error.status, came_from=back, **_words(error))


def _drawn_for_anybody(request: HttpRequest, error: PageError, **context: object) -> HttpResponse:
    """Return the page without any session; the desk speaks English."""
    if _is_desk(request):
        with override(ENGLISH):
            given = {**_words(error), **context}
            return render(request, "desk/error.html", given, status=error.status)
    with language_active(request):
        return draw(request, "error.html", error.status, **_words(error), **context)


def _words(error: PageError) -> dict[str, str]:
    """Return heading and sentence in the active language."""
    return {"heading": _(error.heading or NOT_HERE_HEADING), "sentence": _(error.sentence)}


def _is_desk(request: HttpRequest) -> bool:
    return request.path.startswith(reverse("desk-home"))


def _page_before(request: HttpRequest) -> str:
    """Return the path of the page of ours that a form stood on, if the browser told it."""
    parts = urlsplit(request.headers.get("Referer", ""))
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    is_here = parts.netloc == request.headers.get("Host") and path.startswith("/")
    return path if is_here and not path.startswith("//") else ""
