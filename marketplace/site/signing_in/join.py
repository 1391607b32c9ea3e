"""Coming in with a code read from paper or from a wall: one's own, or that of a class."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from marketplace import clock
from marketplace.configuration import base_url
from marketplace.models import ClassCode, Worker
from marketplace.models.identifiers import digest
from marketplace.people.invitations import (
    LONGEST_NAME,
    InvitationError,
    class_code_of,
    link_of,
    normalised_code,
    take_seat,
)
from marketplace.site.signing_in.sessions import begin, session_of
from marketplace.site.signing_in.sign_in_limits import try_link
from marketplace.web.pages import draw, page

UNKNOWN = gettext_noop(
    "This code is not known here, or not good any more. Check it, or ask for a new one."
)


@page
def join(request: HttpRequest) -> HttpResponse:
    """Ask for a code; a personal one goes to its link, a class one asks for a name and lets in."""
    given = request.POST if request.method == "POST" else request.GET
    code, now = normalised_code(given.get("code", "")), clock.now()
    if not code:
        return _drawn(request)
    if Worker.objects.filter(link_digest=digest(code), is_active=True).exists():
        return redirect("enter", token=code)
    found = class_code_of(code, now)
    if found is None:
        # A class sits behind one address: whoever types it right comes in, though others did not.
        if problem := try_link(request, now):
            return _drawn(request, problem, 429, code=code)
        return _drawn(request, _(UNKNOWN), 404, code=code)
    if request.method != "POST" or "name" not in request.POST:
        return _drawn(request, code=code, found=found)
    return _seated(request, found)


def _is_seated(request: HttpRequest, found: ClassCode) -> bool:
    """Tell whether this browser sends the same form again; another name is another person."""
    session, name = session_of(request), " ".join(request.POST["name"].split())
    if session is None or session.worker.display_name != name:
        return False
    return session.worker.invitations.filter(class_code=found).exists()


def _seated(request: HttpRequest, found: ClassCode) -> HttpResponse:
    if _is_seated(request, found):
        return redirect("available")
    try:
        letter = take_seat(found, request.POST["name"], clock.now())
    except InvitationError as error:
        given = {"code": found.code, "typed_name": request.POST["name"][:LONGEST_NAME]}
        return _drawn(request, str(error), 400, found=found, **given)
    link = link_of(letter.token, base_url(request))
    response = _drawn(request, found=found, link=link, name=letter.worker.display_name)
    begin(request, response, letter.worker)
    return response


def _drawn(
    request: HttpRequest, problem: str = "", status: int = 200, **context: object
) -> HttpResponse:
    return draw(request, "join.html", status, problem=problem, **context)
