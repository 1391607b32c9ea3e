"""Who may open the requester's pages: by password, or without one on this very machine."""

from collections.abc import Callable
from functools import wraps

from django.conf import settings
from django.contrib.auth import get_user, login
from django.contrib.auth.views import redirect_to_login
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.cache import never_cache

from collector.models.accounts import owner
from common.storable import without_nul
from common.visitors import is_from_this_machine

View = Callable[..., HttpResponseBase]


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


def sets_up(request: HttpRequest) -> bool:
    """Return whether somebody set this server up, or sits at it.

    Two people decide about a rejection, so on a server nobody makes their own second person.
    """
    return needs_no_password(request) or bool(getattr(request.user, "is_superuser", False))
