"""Makes guessing of passwords and links slow."""

from datetime import datetime, timedelta

from django.http import HttpRequest
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from marketplace.configuration import client_address
from marketplace.models import SignInFailure

WINDOW = timedelta(minutes=15)
# Many people may sit behind one address, and nobody may lock another person out from elsewhere.
MOST_PER_NAME_AND_ADDRESS = 5
MOST_LINKS_PER_ADDRESS = 50
MOST_PER_NAME = 50


def too_many(request: HttpRequest, name: str, now: datetime) -> str:
    """Return a sentence when this name, or a link from this address, failed too often lately.

    name: blank for a link. A name's failures are counted by themselves: what others at the same
    address get wrong keeps nobody out.
    """
    known = _blurred(name) if name else ""
    lately = SignInFailure.objects.filter(at__gt=now - WINDOW, name_digest=known)
    here = lately.filter(address_digest=_blurred(client_address(request))).count()
    if name:
        is_over = here >= MOST_PER_NAME_AND_ADDRESS or lately.count() >= MOST_PER_NAME
    else:
        is_over = here >= MOST_LINKS_PER_ADDRESS
    if not is_over:
        return ""
    return _("Too many tries. Wait a quarter of an hour, or open your personal link.")


def note_failure(request: HttpRequest, name: str, now: datetime) -> None:
    """Remember one failed sign-in and forget what does not count any more."""
    SignInFailure.objects.filter(at__lte=now - WINDOW).delete()
    SignInFailure.objects.create(
        name_digest=_blurred(name) if name else "",
        address_digest=_blurred(client_address(request)),
        at=now,
    )


def _blurred(value: str) -> str:
    """Return what only this site can compare with a name or an address."""
    return salted_hmac("marketplace.throttle", value, algorithm="sha256").hexdigest()
