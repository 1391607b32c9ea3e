"""Signing in by name (where the host allows it), by name and password or by link; signing out."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from common.visitors import safe_next_url
from marketplace import clock
from marketplace.configuration import open_sign_in
from marketplace.models import Worker
from marketplace.models.identifiers import digest
from marketplace.models.workers import sign_in_name_of
from marketplace.people.invitations import mark_used
from marketplace.people.passwords import (
    LONGEST_NAME,
    PasswordError,
    typed_name,
    worker_by_password,
)
from marketplace.site.signing_in.sessions import begin, end
from marketplace.site.signing_in.sign_in_limits import signed_in, try_link, try_name
from marketplace.web.pages import draw, page


@page
@require_POST
def sign_in(request: HttpRequest) -> HttpResponse:
    """Begin or go on as the worker of this name: by password, or freely where the door is open."""
    try:
        name = typed_name(request.POST.get("name", ""))
    except PasswordError as refusal:
        return sign_in_page(request, str(refusal), 400)
    if not open_sign_in():
        return _by_password(request, name)
    worker, _is_new = Worker.objects.get_or_create(
        sign_in_name=sign_in_name_of(name),
        # Simulated workers say so when they first come; whoever was a person stays one.
        defaults={
            "display_name": name,
            "created_at": clock.now(),
            "is_simulated": request.POST.get("simulated") == "yes",
        },
    )
    return _by_password(request, name) if worker.password else _let_in(request, worker)


def _by_password(request: HttpRequest, name: str) -> HttpResponse:
    password, now = request.POST.get("password", ""), clock.now()
    if not password:
        return sign_in_page(request, _("Write your password, too."), 403, asks_password=True)
    # Workers choose their names: none of these is the name of an account of another kind.
    key = f"worker:{sign_in_name_of(name)}"
    if problem := try_name(request, key, now):
        return sign_in_page(request, problem, 429, asks_password=True)
    worker = worker_by_password(name, password)
    if worker is None:
        problem = _("This name and password do not go together.")
        return sign_in_page(request, problem, 403, asks_password=True)
    response = _let_in(request, worker)
    signed_in(request, response, key)
    return response


def _let_in(request: HttpRequest, worker: Worker) -> HttpResponse:
    if not worker.is_active:
        return sign_in_page(
            request, _("This account is closed. Ask the host of the marketplace."), 403
        )
    response = redirect(safe_next_url(request, "available"))
    begin(request, response, worker)
    return response


@page
def enter(request: HttpRequest, token: str) -> HttpResponse:
    """Show whose personal link this is, and sign them in when they press the button.

    Opening it alone signs nobody in: programs that check links in mail open them too.
    """
    now = clock.now()
    # A class sits behind one address: whoever has a link comes in, however often others failed.
    worker = Worker.objects.filter(link_digest=digest(token), is_active=True).first()
    if worker is None:
        if problem := try_link(request, now):
            return sign_in_page(request, problem, 429)
        return sign_in_page(request, _("This link is not valid any more. Ask for a new one."), 404)
    if request.method != "POST":
        return draw(request, "enter.html", name=worker.display_name)
    response = redirect("available")
    begin(request, response, worker)
    mark_used(worker, now)
    return response


@page
@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End this browser's session."""
    response = redirect("home")
    end(request, response)
    return response


def sign_in_page(
    request: HttpRequest, problem: str, status: int = 200, asks_password: bool = False
) -> HttpResponse:
    """Return the front door, with a sentence on what went wrong and what was typed."""
    given = request.POST if request.method == "POST" else request.GET
    return draw(
        request,
        "front_door.html",
        status,
        is_open=open_sign_in(),
        asks_password=asks_password,
        next=given.get("next", ""),
        problem=problem,
        name=request.POST.get("name", "")[:LONGEST_NAME],
        is_erased="erased" in request.GET,
    )
