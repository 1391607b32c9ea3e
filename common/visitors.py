"""Where a visitor comes from: this machine, a known browser, or a page to which to return."""

import re
from datetime import timedelta
from ipaddress import ip_address
from secrets import token_hex

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.crypto import salted_hmac
from django.utils.http import url_has_allowed_host_and_scheme

# What browsers send by themselves. Whatever else is there a server in between has put there; each
# has words of its own for whom it stands for.
BROWSERS_OWN = re.compile(
    r"HTTP_("
    r"ACCEPT(_\w+)?|ALT_USED|AUTHORIZATION|AVAILABLE_DICTIONARY|CACHE_CONTROL|CONNECTION|COOKIE|DATE"
    r"|DICTIONARY_ID|DNT|EXPECT|FROM|HOST|IF_\w+|KEEP_ALIVE|LAST_EVENT_ID|ORIGIN|PRAGMA|PRIORITY"
    r"|PURPOSE|RANGE|REFERER|SAVE_DATA|SEC_\w+|SERVICE_WORKER(_\w+)?|TE|TRAILER|TRANSFER_ENCODING"
    r"|UPGRADE(_INSECURE_REQUESTS)?|USER_AGENT|X_CSRFTOKEN|X_REQUESTED_WITH"
    r")"
)
SAID_AT_START = (
    "Browsers on this machine are asked for no password; whatever comes through a front server is "
    "asked."
)
# The longest that browsers keep a cookie.
KEPT = timedelta(days=400)


def is_from_this_machine(request: HttpRequest) -> bool:
    """Return whether a browser on this machine asks, with no server in between.

    The Host header alone proves nothing to somebody on the same network, so the peer counts; and
    the peer is a front server where any header is not a browser's own.
    """
    names = (name for name in request.META if name.startswith("HTTP_"))
    if not all(BROWSERS_OWN.fullmatch(name) for name in names):
        return False
    try:
        return ip_address(request.META.get("REMOTE_ADDR") or "").is_loopback
    except ValueError:
        return False


def safe_next_url(request: HttpRequest, otherwise: str, under: str = "/") -> str:
    """Return the path that `next` names, or `otherwise` unless it is one of this site, `under` it.

    A word without a slash is no path: it may be the name of a page, or of nothing.
    """
    wanted = request.POST.get("next") or request.GET.get("next", "")
    is_here = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, request.is_secure())
    return wanted if is_here and wanted.startswith(under) else otherwise


def known_browser(request: HttpRequest, account: str) -> str:
    """Return the browser's number if this account was signed in to in it, blank otherwise."""
    return str(request.get_signed_cookie(_cookie(account), default="", salt=account, max_age=KEPT))


def remember_browser(request: HttpRequest, response: HttpResponseBase, account: str) -> None:
    """Have the browser prove from now on that this account was signed in to in it."""
    response.set_signed_cookie(
        _cookie(account),
        known_browser(request, account) or token_hex(16),
        salt=account,
        max_age=KEPT,
        httponly=True,
        samesite="Lax",
        secure=request.is_secure(),
    )


def _cookie(account: str) -> str:
    # Several people may share a browser; its cookies name none of them.
    return "known_" + salted_hmac("known-browser", account, algorithm="sha256").hexdigest()[:16]
