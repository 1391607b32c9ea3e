"""The front door: signing in by name, password, link or code; signing out; POST is the API."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from common.visitors import safe_next_url
from marketplace import clock
from marketplace.configuration import base_url, open_sign_in
from marketplace.models import ClassCode, Worker
from marketplace.models.identifiers import digest
from marketplace.models.people import sign_in_name_of
from marketplace.operations.views import confirm_by_link, requester_api
from marketplace.people.accounts import (
    LONGEST_NAME,
    PasswordError,
    typed_name,
    worker_by_password,
)
from marketplace.people.invitations import (
    InvitationError,
    class_code_of,
    link_of,
    mark_used,
    normalised_code,
    take_seat,
)
from marketplace.web.pages import draw, page
from marketplace.web.sign_in_limits import signed_in, try_link, try_name
from marketplace.web.worker_pages import begin, end, session_of


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
        # Simulated workers say so when they first come; a person stays a person.
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
    # A class shares one address: a good link works, however often others at it have failed.
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
        # A class shares one address: a good code works, however often others at it have failed.
        if problem := try_link(request, now):
            return _drawn(request, problem, 429, code=code)
        return _drawn(request, _(UNKNOWN), 404, code=code)
    if request.method != "POST" or "name" not in request.POST:
        return _drawn(request, code=code, found=found)
    if _is_seated(request, found):
        return redirect("available")
    try:
        letter = take_seat(found, request.POST["name"], clock.now())
    except InvitationError as error:
        kept = {"code": found.code, "typed_name": request.POST["name"][:LONGEST_NAME]}
        return _drawn(request, str(error), 400, found=found, **kept)
    link = link_of(letter.token, base_url(request))
    response = _drawn(request, found=found, link=link, name=letter.worker.display_name)
    begin(request, response, letter.worker)
    return response


def _is_seated(request: HttpRequest, found: ClassCode) -> bool:
    """Return whether this browser sends the same form again; another name is another person."""
    session, name = session_of(request), " ".join(request.POST["name"].split())
    if session is None or session.worker.display_name != name:
        return False
    return session.worker.invitations.filter(class_code=found).exists()


def _drawn(
    request: HttpRequest, problem: str = "", status: int = 200, **context: object
) -> HttpResponse:
    return draw(request, "join.html", status, problem=problem, **context)


@csrf_exempt
def home(request: HttpRequest) -> HttpResponse:
    """Answer a requester's client, whose requests are signed, or show the front door."""
    if request.method == "POST":
        return requester_api(request)
    if request.GET.get("Action") == "ConfirmSubscription":
        return confirm_by_link(request)
    return front_door(request)


@page
def front_door(request: HttpRequest) -> HttpResponse:
    """Show how to sign in, or go to the HITs if that is done."""
    if session_of(request) is not None:
        return redirect("available")
    return sign_in_page(request, "")
