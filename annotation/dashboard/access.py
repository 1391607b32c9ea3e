"""Lets requesters in: by password, or without one on this very machine; their accounts."""

from collections.abc import Callable
from functools import wraps

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import get_user, login, logout
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import redirect_to_login
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from collector.accounts import LONGEST_PASSWORD, create_account, owner
from collector.models import SignInTries, User
from common.actions import ActionError
from common.known_browser import known_browser, remember_browser
from common.rate_limit import Limit, client_address
from common.storable import without_nul
from common.visitors import is_from_this_machine, safe_next_url

View = Callable[..., HttpResponseBase]
# Wrong passwords for one account from one place; whoever has used them up waits for all again.
WAIT_MINUTES = 5
TRIES = Limit(at_once=5, seconds=WAIT_MINUTES * 60 / 5)
# From all places together, but for browsers in which the account was signed in to before: whoever
# guesses has many addresses, and keeps its owner out of no browser of theirs.
TRIES_ELSEWHERE = Limit(at_once=20, seconds=WAIT_MINUTES * 60 / 5)
NOT_YOURS = "Accounts are made by whoever set this server up."


def requester_required(view: View) -> View:
    """Let a signed-in requester through; sign the owner in where no password is needed."""

    @never_cache
    @wraps(view)
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if not request.user.is_authenticated:
            if not needs_no_password(request):
                return redirect_to_login(request.get_full_path())
            login(request, owner(), backend="django.contrib.auth.backends.ModelBackend")
        request.GET = without_nul(request.GET)  # type: ignore[assignment]
        request.POST = without_nul(request.POST)  # type: ignore[assignment]
        return view(request, *args, **kwargs)

    return guarded


def knows(request: HttpRequest, **names: object) -> bool:
    """Return whether a signed-in requester sends this, whose body has not been read yet."""
    SessionMiddleware(lambda _: HttpResponse()).process_request(request)
    return needs_no_password(request) or get_user(request).is_authenticated


def needs_no_password(request: HttpRequest) -> bool:
    """Return whether the pages open without a password: allowed, and asked from this machine."""
    return bool(settings.PASSWORDLESS_SIGN_IN) and is_from_this_machine(request)


def name_of(request: HttpRequest) -> str:
    """Return who decides, as decisions record it."""
    return str(request.user.get_username())


@never_cache
def sign_in(request: HttpRequest) -> HttpResponse:
    """Ask for name and password, slowly after several wrong ones; then go where one wanted to."""
    target = safe_next_url(request, "/")
    form = AuthenticationForm(request, data=request.POST or None)
    if request.method == "POST":
        # Of this account, from this address: nobody's guesses keep anybody else out who sits behind
        # the same one, and signing in to one's own between two guesses takes none of them back.
        account = User.normalize_username(request.POST.get("username", "").strip())
        browser = known_browser(request, f"requester:{account}")
        address = client_address(request, settings.CLIENT_ADDRESS_HEADER)
        tries = (
            [(TRIES, (account, "browser", browser))]
            if browser
            else [(TRIES, (account, address)), (TRIES_ELSEWHERE, (account,))]
        )
        now = timezone.now()
        if not all(SignInTries.take(limit, now, *who) for limit, who in tries):
            form = AuthenticationForm(request)
            waiting = {"form": form, "minutes": WAIT_MINUTES, "next": target}
            return render(request, "dashboard/sign_in.html", waiting, status=429)
        if form.is_valid():
            for limit, who in tries:
                SignInTries.give_back(limit, *who)
            login(request, form.get_user())
            response = redirect(target)
            remember_browser(request, response, f"requester:{account}")
            return response
    return render(request, "dashboard/sign_in.html", {"form": form, "next": target})


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End the session and say so."""
    logout(request)
    return redirect("signed_out")


@never_cache
@require_safe
def signed_out(request: HttpRequest) -> HttpResponse:
    """Say that one has left."""
    return render(request, "dashboard/signed_out.html")


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
    if not sets_up(request):
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


def sets_up(request: HttpRequest) -> bool:
    """Return whether somebody set this server up, or sits at it.

    Two people decide about a rejection, so on a server nobody makes their own second person.
    """
    return needs_no_password(request) or bool(getattr(request.user, "is_superuser", False))


def _drawn(request: HttpRequest, status: int = 200, **more: object) -> HttpResponse:
    shown = {
        "accounts": User.objects.filter(is_active=True).order_by("username"),
        "may_make": sets_up(request),
        "longest": LONGEST_PASSWORD,
        **more,
    }
    return render(request, "dashboard/accounts.html", shown, status=status)
