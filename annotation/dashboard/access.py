"""Lets requesters in: by password, or without one at a desk that only this machine can reach."""

from collections.abc import Callable
from functools import wraps

from django.conf import settings
from django.contrib.auth import login, logout
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import redirect_to_login
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.crypto import salted_hmac
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from collector.accounts import owner
from common.local_access import is_from_this_machine
from common.way_back import way_back
from common.without_nul import without_nul

View = Callable[..., HttpResponseBase]
# So many wrong passwords in a row for one account from one place, and it waits.
TRIES = 5
WAIT_SECONDS = 300


def requester_required(view: View) -> View:
    """Let a signed-in requester through; at an open desk sign the owner in, else ask who it is."""

    @never_cache
    @wraps(view)
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if not request.user.is_authenticated:
            if not is_open_desk(request):
                return redirect_to_login(request.get_full_path())
            login(request, owner(), backend="django.contrib.auth.backends.ModelBackend")
        request.GET = without_nul(request.GET)  # type: ignore[assignment]
        request.POST = without_nul(request.POST)  # type: ignore[assignment]
        return view(request, *args, **kwargs)

    return guarded


def is_open_desk(request: HttpRequest) -> bool:
    """Return whether the desk opens without a password: allowed, and asked from this machine."""
    return bool(settings.OPEN_DESK) and is_from_this_machine(request)


def name_of(request: HttpRequest) -> str:
    """Return who decides, as decisions record it."""
    return str(request.user.get_username())


def client_address(request: HttpRequest) -> str:
    """Return where a request came from; behind a front server, what that says of it."""
    header = settings.CLIENT_ADDRESS_HEADER
    told = request.headers.get(header, "").rpartition(",")[2].strip() if header else ""
    return told or str(request.META.get("REMOTE_ADDR", ""))


@never_cache
def sign_in(request: HttpRequest) -> HttpResponse:
    """Ask for name and password, slowly after several wrong ones; then go where one wanted to."""
    target = way_back(request, "/")
    tries = _tries_of(request)
    form = AuthenticationForm(request, data=request.POST or None)
    if request.method == "POST":
        if cache.get(tries, 0) >= TRIES:
            minutes = WAIT_SECONDS // 60
            waiting = {"form": AuthenticationForm(request), "minutes": minutes, "next": target}
            return render(request, "dashboard/sign_in.html", waiting, status=429)
        if form.is_valid():
            cache.delete(tries)
            login(request, form.get_user())
            return redirect(target)
        cache.add(tries, 0, WAIT_SECONDS)
        cache.incr(tries)
    return render(request, "dashboard/sign_in.html", {"form": form, "next": target})


def _tries_of(request: HttpRequest) -> str:
    """Return under which key wrong passwords are counted: of this account, from this address.

    Signing in to one's own account between guesses at another's takes none of them back, and
    nobody's guesses keep anybody else out who sits behind the same address.
    """
    who = f"{request.POST.get('username', '')}\n{client_address(request)}"
    return f"sign-in:{salted_hmac('collector.sign-in', who, algorithm='sha256').hexdigest()}"


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
