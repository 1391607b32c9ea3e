"""Signing in by a name (where the host allows it) or by a personal link, and signing out."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from marketplace import clock
from marketplace.configuration import open_sign_in
from marketplace.identifiers import digest
from marketplace.models import Worker
from marketplace.models.worker import sign_in_name_of
from marketplace.site.pages import page
from marketplace.site.sessions import begin, end

LONGEST_NAME = 80


@page
@require_POST
def sign_in(request: HttpRequest) -> HttpResponse:
    """Begin or go on as the worker of this name; only where the host left the door open."""
    if not open_sign_in():
        return _door(request, "Open the personal link you were given to sign in.", 403)
    name = " ".join(request.POST.get("name", "").replace("\x00", "").split())
    if not 1 <= len(name) <= LONGEST_NAME:
        return _door(request, f"Write a name of 1 to {LONGEST_NAME} characters.", 400)
    worker, _ = Worker.objects.get_or_create(
        sign_in_name=sign_in_name_of(name),
        defaults={"display_name": name, "created_at": clock.now()},
    )
    if not worker.is_active:
        return _door(request, "This account is closed. Ask the host of the marketplace.", 403)
    response = redirect(_safe_next(request))
    begin(request, response, worker)
    return response


@page
def enter(request: HttpRequest, token: str) -> HttpResponse:
    """Show whose personal link this is, and sign them in when they press the button.

    Opening it alone signs nobody in: programs that check links in mail open them too.
    """
    worker = Worker.objects.filter(link_digest=digest(token), is_active=True).first()
    if worker is None:
        return _door(request, "This link is not valid any more. Ask for a new one.", 404)
    if request.method != "POST":
        return render(request, "marketplace/enter.html", {"name": worker.display_name})
    response = redirect("available")
    begin(request, response, worker)
    return response


@page
@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End this browser's session."""
    response = redirect("home")
    end(request, response)
    return response


def _door(request: HttpRequest, problem: str, status: int) -> HttpResponse:
    context = {
        "is_open": open_sign_in(),
        "next": request.POST.get("next", ""),
        "problem": problem,
        "name": request.POST.get("name", "")[:LONGEST_NAME],
    }
    return render(request, "marketplace/front_door.html", context, status=status)


def _safe_next(request: HttpRequest) -> str:
    wanted = request.POST.get("next", "")
    if url_has_allowed_host_and_scheme(wanted, {request.get_host()}, request.is_secure()):
        return wanted
    return "available"
