"""Limits how often people can try to sign in, so that guessing passwords and links is slow."""

from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from common.rate_limit import Limit, client_address
from common.visitors import known_browser, remember_browser
from marketplace.configuration import client_address_header
from marketplace.models import SignInTries

QUARTER = 15 * 60
# Many people can share one address, and one person who guesses can use many addresses. PER_NAME
# limits all tries together that come from browsers unknown to the account.
PER_NAME_AND_ADDRESS = Limit(at_once=5, seconds=QUARTER / 5)
PER_NAME = Limit(at_once=50, seconds=QUARTER / 50)
LINKS_PER_ADDRESS = Limit(at_once=50, seconds=QUARTER / 50)


def try_name(request: HttpRequest, name: str, now: datetime) -> str:
    """Count one try to sign in with this name; return a sentence if there were too many lately.

    Wrong tries by others, from any address, do not lock people out of a browser in which they have
    signed in before. `signed_in` takes the try back.
    """
    if browser := known_browser(request, name):
        may = SignInTries.take(PER_NAME_AND_ADDRESS, now, name, "browser", browser)
    else:
        may = SignInTries.take(PER_NAME_AND_ADDRESS, now, name, _address(request))
        may = may and SignInTries.take(PER_NAME, now, name)
    return "" if may else _refusal()


def signed_in(request: HttpRequest, response: HttpResponse, name: str) -> None:
    """Take back the try, because it succeeded, and remember the browser."""
    if browser := known_browser(request, name):
        SignInTries.give_back(PER_NAME_AND_ADDRESS, name, "browser", browser)
    else:
        SignInTries.give_back(PER_NAME_AND_ADDRESS, name, _address(request))
        SignInTries.give_back(PER_NAME, name)
    remember_browser(request, response, name)


def try_link(request: HttpRequest, now: datetime) -> str:
    """Count one wrong link or code; return a sentence if there were too many lately."""
    here = SignInTries.take(LINKS_PER_ADDRESS, now, "", _address(request))
    return "" if here else _refusal()


def _refusal() -> str:
    return _("Too many tries. Wait a quarter of an hour, or open your personal link.")


def _address(request: HttpRequest) -> str:
    return client_address(request, client_address_header())
