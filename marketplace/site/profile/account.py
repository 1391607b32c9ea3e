"""How a worker signs in, what the marketplace knows of them, and being forgotten."""

from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from marketplace import clock
from marketplace.configuration import base_url, requesters_see_mail
from marketplace.models import Assignment, AssignmentState
from marketplace.money import funds
from marketplace.people.erasure import erase, everything_about
from marketplace.people.passwords import PasswordError, choose_password, renew_link
from marketplace.site.pages import SignedInRequest, leave_notice, show, worker_page
from marketplace.site.signing_in.sessions import end


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
