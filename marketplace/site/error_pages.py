"""The pages for what went wrong outside every view: in the house's look, with a way back.

Whatever breaks here would leave the visitor with nothing, so a page that cannot be drawn with the
visitor's session is drawn without it.
"""

from collections.abc import Callable
from urllib.parse import urlsplit

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, override

from common import unavailable
from marketplace.desk.sessions import session_of as desk_session_of
from marketplace.site.languages import ENGLISH, speaking
from marketplace.site.pages import SignedInRequest, draw, harden, sorry
from marketplace.site.signing_in.sessions import session_of

# Heading and sentence of each page.
Words = tuple[str, str]
NOT_HERE: Words = (
    gettext_noop("Not here"),
    gettext_noop("There is no page at this address. It may be mistyped, or what it named is gone."),
)
NOT_ALLOWED: Words = (
    gettext_noop("Not open to you"),
    gettext_noop("This page is for somebody else. Go on from the first page."),
)
NOT_A_PAGE: Words = (
    gettext_noop("Not a page"),
    gettext_noop("This address only takes what a form sends. Go on from the first page."),
)
NOT_READ: Words = (
    gettext_noop("This could not be read"),
    gettext_noop(
        "What your browser sent was incomplete or too large, so nothing was changed. Go back and "
        "try again with less."
    ),
)
NOT_SENT: Words = (
    gettext_noop("Not sent"),
    gettext_noop(
        "The form did not come with the cookie of its page, so nothing was changed. Allow cookies "
        "for this site, open the page again and send the form once more."
    ),
)
BROKEN: Words = (
    gettext_noop("Something broke on our side"),
    gettext_noop("What was saved before is safe. Go back and try again in a moment."),
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
    """Return the page for an address that leads nowhere."""
    return _page(request, NOT_HERE, 404)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return the page for what somebody may not see."""
    return _page(request, NOT_ALLOWED, 403)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return the page for a request that cannot be read."""
    return _page(request, NOT_READ, 400)


def form_only(request: HttpRequest, allowed: str) -> HttpResponse:
    """Return the page for an address that only forms lead to, opened like a page."""
    response = _page(request, NOT_A_PAGE, 405)
    response["Allow"] = allowed
    return response


def form_not_ours(request: HttpRequest) -> HttpResponse:
    """Return the page for a form whose token is missing or wrong."""
    return _page(request, NOT_SENT, 403, back=_page_before(request))


def server_error(request: HttpRequest) -> HttpResponse:
    """Return the page for a fault of ours, or for a service that is away; it needs no database."""
    if unavailable.is_away():
        return _away(request)
    return harden(_drawn_for_anybody(request, BROKEN, 500, is_bare=True))


def _away(request: HttpRequest) -> HttpResponse:
    """Return the page of a moment without a database, which keeps what a form has sent."""
    fields = unavailable.sent_fields(request)
    sentence = LOOKS_AGAIN if request.method == "GET" else KEPT_HERE if fields else GO_BACK
    again = {"again": {"action": request.get_full_path(), "fields": fields}} if fields else {}
    if request.path.endswith("/externalSubmit"):
        # What a frame has sent is answered in the frame.
        with speaking(request):
            given = {"heading": _(AWAY), "sentence": _(sentence), **again}
            response = render(request, "marketplace/in_frame.html", given)
        return unavailable.come_again(request, harden(response, frame_ancestors="'self'"))
    response = _drawn_for_anybody(request, (AWAY, sentence), 503, is_bare=True, **again)
    return unavailable.come_again(request, harden(response))


def _page(request: HttpRequest, words: Words, status: int, back: str = "") -> HttpResponse:
    drawn: Callable[..., HttpResponse] = _at_desk if _is_desk(request) else _at_site
    try:
        response = drawn(request, words, status, back)
    except DatabaseError:
        response = _drawn_for_anybody(request, words, status, came_from=back)
    return harden(response)


def _at_site(request: HttpRequest, words: Words, status: int, back: str) -> HttpResponse:
    session = session_of(request)
    if session is None:
        return _drawn_for_anybody(request, words, status, came_from=back)
    signed_in: SignedInRequest = request  # type: ignore[assignment]
    signed_in.worker, signed_in.worker_session = session.worker, session
    with speaking(request, session.worker.language):
        heading, sentence = map(_, words)
        return sorry(signed_in, sentence, status, heading=heading, came_from=back)


def _at_desk(request: HttpRequest, words: Words, status: int, back: str) -> HttpResponse:
    from marketplace.desk.access import Desk, DeskRequest
    from marketplace.desk.pages import show

    session = desk_session_of(request)
    if session is None:
        return _drawn_for_anybody(request, words, status, came_from=back)
    at_desk: DeskRequest = request  # type: ignore[assignment]
    at_desk.desk = Desk(session.user, session)
    heading, sentence = words
    context = {"heading": heading, "sentence": sentence, "came_from": back}
    with override(ENGLISH):
        return show(at_desk, "error.html", status, **context)


def _drawn_for_anybody(
    request: HttpRequest, words: Words, status: int, **context: object
) -> HttpResponse:
    """Return the page without any session; the desk speaks English."""
    heading, sentence = words
    if _is_desk(request):
        given = {"heading": heading, "sentence": sentence, **context}
        with override(ENGLISH):
            return render(request, "desk/error.html", given, status=status)
    with speaking(request):
        given = {"heading": _(heading), "sentence": _(sentence), **context}
        return draw(request, "error.html", status, **given)


def _is_desk(request: HttpRequest) -> bool:
    return request.path.startswith(reverse("desk-home"))


def _page_before(request: HttpRequest) -> str:
    """Return the path of the page of ours that a form stood on, if the browser told it."""
    parts = urlsplit(request.headers.get("Referer", ""))
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    is_here = parts.netloc == request.headers.get("Host") and path.startswith("/")
    return path if is_here and not path.startswith("//") else ""
