"""Who runs collections here, and another account for whoever shall decide as the second person."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotation.dashboard.access import is_open_desk, requester_required
from collector.accounts import LONGEST_PASSWORD, create_account
from collector.models import User
from common.actions import ActionError

NOT_YOURS = "Accounts are made by whoever set this server up."


@requester_required
@require_safe
def accounts(request: HttpRequest) -> HttpResponse:
    """List the accounts, with a form for one more where one may make it."""
    return _drawn(request)


@requester_required
@require_POST
def make_account(request: HttpRequest) -> HttpResponse:
    """Make an account; a refused name stays in its field."""
    name = request.POST.get("name", "")
    if not _may_make(request):
        return _drawn(request, 403, wrong=NOT_YOURS)
    try:
        made = create_account(name, request.POST.get("password", ""))
    except ActionError as error:
        return _drawn(request, 422, wrong=error.on_page, typed=name[:150])
    messages.success(
        request,
        f"{made} can sign in now. To decide as {made}, sign out and in, or use a window "
        "of another browser.",
    )
    return redirect("accounts")


def _may_make(request: HttpRequest) -> bool:
    """Two people decide about a rejection, so on a server nobody makes their own second person."""
    return is_open_desk(request) or bool(getattr(request.user, "is_superuser", False))


def _drawn(request: HttpRequest, status: int = 200, **more: object) -> HttpResponse:
    shown = {
        "accounts": User.objects.filter(is_active=True).order_by("username"),
        "may_make": _may_make(request),
        "longest": LONGEST_PASSWORD,
        **more,
    }
    return render(request, "dashboard/accounts.html", shown, status=status)
