"""How a worker signs in, what the marketplace knows of them, being forgotten; preferences."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import override
from django.views.decorators.http import require_POST, require_safe

from common.visitors import safe_next_url
from marketplace import clock, funds
from marketplace.configuration import base_url, requesters_see_mail
from marketplace.erasure import erase, everything_about
from marketplace.languages import CODES, LANGUAGES, remember
from marketplace.models import Assignment, AssignmentState, Worker
from marketplace.people.accounts import PasswordError, choose_password, renew_link
from marketplace.people.requirements import is_country, is_subdivision
from marketplace.web.pages import page
from marketplace.web.worker_pages import (
    SignedInRequest,
    end,
    leave_notice,
    session_of,
    show,
    worker_page,
)


@worker_page
@require_safe
def account(request: SignedInRequest) -> HttpResponse:
    """Show how the worker signs in and what can be done with their data."""
    return _account(request)


def _account(request: SignedInRequest, status: int = 200, **context: object) -> HttpResponse:
    worker = request.worker
    pending = Assignment.objects.filter(worker=worker, state=AssignmentState.SUBMITTED)
    return show(
        request,
        "account.html",
        status=status,
        here="account",
        mail_is_seen=requesters_see_mail(),
        owed_cents=funds.owed_cents(worker),
        n_pending=pending.count(),
        n_sessions=worker.sessions.filter(expires_at__gt=clock.now()).count(),
        **context,
    )


@worker_page
@require_POST
def password(request: SignedInRequest) -> HttpResponse:
    """Choose a name and a password to sign in with, beside the personal link."""
    name = request.POST.get("name", "")
    try:
        choose_password(request.worker, name, request.POST.get("password", ""))
    except PasswordError as refusal:
        request.worker.refresh_from_db()
        return _account(request, 400, problem=str(refusal), typed_name=name)
    _end_other_sessions(request)
    leave_notice(request, _("You can sign in with this name and password from now on."))
    return redirect("account")


@worker_page
@require_POST
def link(request: SignedInRequest) -> HttpResponse:
    """Make a new personal link and show it this once."""
    token = renew_link(request.worker)
    path = reverse("enter", kwargs={"token": token})
    return _account(request, link=f"{base_url(request)}{path}")


@worker_page
@require_POST
def leave_everywhere(request: SignedInRequest) -> HttpResponse:
    """End every other sign-in of the worker."""
    _end_other_sessions(request)
    leave_notice(request, _("You are signed in here only."))
    return redirect("account")


def _end_other_sessions(request: SignedInRequest) -> None:
    request.worker.sessions.exclude(pk=request.worker_session.pk).delete()


@worker_page
@require_safe
def data(request: SignedInRequest) -> HttpResponse:
    """Send everything the marketplace holds about the worker, as one JSON document."""
    response = JsonResponse(
        everything_about(request.worker), json_dumps_params={"ensure_ascii": False, "indent": 1}
    )
    response["Content-Disposition"] = 'attachment; filename="my-data.json"'
    return response


@worker_page
@require_POST
def forget(request: SignedInRequest) -> HttpResponse:
    """Erase the worker, who has to say so, and to give up what is still owed or pending."""
    worker = request.worker
    open_work = Assignment.objects.filter(worker=worker, state=AssignmentState.SUBMITTED).exists()
    is_owed = funds.owed_cents(worker) > 0 or open_work
    if "sure" not in request.POST or (is_owed and "waive" not in request.POST):
        problem = _("Nothing was erased: tick the boxes first.")
        return _account(request, 400, erasing_problem=problem)
    erase(worker, clock.now())
    response = redirect(f"{reverse('home')}?erased=1")
    end(request, response)
    return response


BOXES = ("accepts_next", "is_adult", "has_large_text")
CHOICES = {"language": ("", *CODES), "theme": ("", "light", "dark")}


@worker_page
def preferences(request: SignedInRequest) -> HttpResponse:
    """Show the worker's choices and keep changed ones; a field that is not sent stays as it is."""
    if request.method != "POST":
        return _preferences(request)
    worker = request.worker
    country = request.POST.get("country", worker.country).strip().upper()
    # One code for both is how lists have it: US-CA.
    country, _dash, part = country.partition("-")
    kept = worker.subdivision if country == worker.country else ""
    subdivision = request.POST.get("subdivision", kept).strip().upper()
    subdivision = part or subdivision.removeprefix(f"{country}-")
    if country and not is_country(country):
        problem = _("Write the country as two letters, like DE or US, or leave it empty.")
        return _preferences(request, 400, problem)
    if subdivision and not is_subdivision(country, subdivision):
        problem = _(
            "Write the state or region as its two letters or digits, like CA for California, "
            "beside its country, or leave it empty."
        )
        return _preferences(request, 400, problem)
    worker.country, worker.subdivision = country, subdivision
    # A box that is not ticked is not sent, so each form says which boxes it has.
    for box in BOXES:
        if box in request.POST.getlist("boxes"):
            setattr(worker, box, box in request.POST)
    for name, allowed in CHOICES.items():
        if (value := request.POST.get(name)) in allowed:
            setattr(worker, name, value)
    worker.save(update_fields=["country", "subdivision", *BOXES, *CHOICES])
    if "quietly" in request.POST:
        return HttpResponse(status=204)
    with override(worker.language or None):
        leave_notice(request, _("Your preferences are kept."))
    return redirect("preferences")


def _preferences(request: SignedInRequest, status: int = 200, problem: str = "") -> HttpResponse:
    context = {"here": "preferences", "problem": problem, "languages": LANGUAGES}
    return show(request, "preferences.html", status=status, **context)


@page
@require_POST
def language(request: HttpRequest) -> HttpResponse:
    """Change the language of the site for this browser, and for the worker who is signed in."""
    response = redirect(safe_next_url(request, "home"))
    code = request.POST.get("language", "")
    if code in CODES:
        remember(response, code, secure=request.is_secure())
        if session := session_of(request):
            Worker.objects.filter(pk=session.worker_id).update(language=code)
    return response
