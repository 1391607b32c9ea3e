"""Knows again a browser in which an account was signed in to: guesses from elsewhere never stop it.

A cookie of the account's own holds a signed number. It signs nobody in.
"""

from datetime import timedelta
from secrets import token_hex

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.crypto import salted_hmac

# The longest that browsers keep a cookie.
KEPT = timedelta(days=400)


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
