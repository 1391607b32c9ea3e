"""Where a visitor comes from: this very machine, and the page that a form leads back to."""

import re
from ipaddress import ip_address

from django.http import HttpRequest
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
