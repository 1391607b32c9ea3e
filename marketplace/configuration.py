"""Reads the host's choices: made at the desk, else in Django's settings, else the default."""

import os
import time
from datetime import datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest

from common.prepared_sql import PreparedQuery
from marketplace.models import Setting

CAP_KEPT_SECONDS = 5
# When the cap was read, by the process's clock, and what it was.
_cap: list[float] = []
# Of signs that are one currency's, or that one nearly always.
OF_SYMBOL = {"$": "USD", "€": "EUR", "£": "GBP"}
FIVE_DAYS_SECONDS = 5 * 24 * 3600
# The system's own requirements, by the names that the host's choices are kept under.
SYSTEM_REQUIREMENTS = ("locale", "adult", "n_approved", "percent_approved", "masters")


SETTING = PreparedQuery(
    lambda name: Setting.objects.filter(name=name).values_list("value"), name=str
)


class SystemPolicy(StrEnum):
    """How a system requirement counts where nobody has a history yet."""

    ENFORCE = "enforce"
    # Met by everybody until they have handed in 100 assignments here.
    UNTIL_HISTORY = "until_history"
    # Judged by the history that was imported with the worker, and what was done here.
    IMPORTED = "imported"


# Country and adulthood are what workers state themselves, so they count from the start.
DEFAULT_POLICIES = {
    name: SystemPolicy.ENFORCE if name in ("locale", "adult") else SystemPolicy.UNTIL_HISTORY
    for name in SYSTEM_REQUIREMENTS
}


def setting(name: str, default: Any) -> Any:
    """Return what the host chose at the desk under this name, or the default."""
    row = SETTING.first(name=name)
    return default if row is None or row[0] is None else row[0]


def choose(name: str, value: Any, now: datetime) -> None:
    """Keep a choice of the host's; None takes it back."""
    _cap.clear()
    if value is None:
        Setting.objects.filter(name=name).delete()
    else:
        Setting.objects.update_or_create(name=name, defaults={"value": value, "changed_at": now})


def system_policies() -> dict[str, SystemPolicy]:
    """Return the host's policy for each name of SYSTEM_REQUIREMENTS, in one query."""
    found = dict(DEFAULT_POLICIES)
    for name, value in setting("system_policies", {}).items():
        found[name] = SystemPolicy(value)
    return found


def payment_terms() -> str:
    """Return who pays, how and by when, in the host's words; a requester's own outrank them."""
    return str(setting("payment_terms", getattr(settings, "MARKETPLACE_PAYMENT_TERMS", "")))


def requesters_see_mail() -> bool:
    """Return whether requesters may read the mail addresses of those who worked for them."""
    return bool(setting("requesters_see_mail", False))


def open_desk() -> bool:
    """Return whether this machine's own visitor is the host unasked (`MARKETPLACE_OPEN_DESK`)."""
    return bool(getattr(settings, "MARKETPLACE_OPEN_DESK", False))


def mail_from() -> str:
    """Return the sender of the host's mail (`MARKETPLACE_MAIL_FROM`); empty = no mail is sent."""
    return str(getattr(settings, "MARKETPLACE_MAIL_FROM", ""))


def own_address() -> str:
    """Return the marketplace's own address, empty if it is not set (`MARKETPLACE_BASE_URL`)."""
    return str(getattr(settings, "MARKETPLACE_BASE_URL", "")).rstrip("/")


def local_address() -> str:
    """Return where programs on this machine reach the marketplace, if nothing else is set."""
    return f"http://127.0.0.1:{os.environ.get('PORT') or 8000}"


def base_url(request: HttpRequest) -> str:
    """Return the marketplace's own address without a trailing slash, else as it was asked for."""
    return own_address() or f"{request.scheme}://{request.get_host()}"


def is_own_origin(url: str, request: HttpRequest) -> bool:
    """Return whether `url` has the marketplace's own host and port, whatever its scheme."""
    own = {f"{request.scheme}://{request.get_host()}", base_url(request)}
    return _host_and_port(url) in map(_host_and_port, own)


@lru_cache(maxsize=256)
def _host_and_port(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    default = 443 if parts.scheme == "https" else 80
    return ((parts.hostname or "").rstrip(".").lower(), parts.port or default)


def open_sign_in() -> bool:
    """Return whether anybody may work under a name of their choice (`MARKETPLACE_OPEN_SIGN_IN`)."""
    return bool(getattr(settings, "MARKETPLACE_OPEN_SIGN_IN", False))


def auto_approval_cap_seconds() -> int:
    """Return the longest a requester may leave work undecided (`MARKETPLACE_AUTO_APPROVAL_CAP`)."""
    default = getattr(settings, "MARKETPLACE_AUTO_APPROVAL_CAP", FIVE_DAYS_SECONDS)
    return int(setting("auto_approval_cap_seconds", default))


def granted_cap_seconds() -> int:
    """Return `auto_approval_cap_seconds()` of a few seconds ago, for all that tells it often."""
    now = time.monotonic()
    if not _cap or now - _cap[0] > CAP_KEPT_SECONDS:
        _cap[:] = now, auto_approval_cap_seconds()
    return int(_cap[1])


def queue_limit() -> int:
    """Return how many HITs a worker may hold at once (`MARKETPLACE_QUEUE_LIMIT`)."""
    return int(getattr(settings, "MARKETPLACE_QUEUE_LIMIT", 25))


def currency_symbol() -> str:
    """Return the sign written before amounts (`MARKETPLACE_CURRENCY_SYMBOL`)."""
    return str(getattr(settings, "MARKETPLACE_CURRENCY_SYMBOL", "$"))


def currency() -> str:
    """Return the currency by ISO 4217 (`MARKETPLACE_CURRENCY`), else that of the sign.

    Empty where neither says which it is.
    """
    given = getattr(settings, "MARKETPLACE_CURRENCY", None)
    return str(given or OF_SYMBOL.get(currency_symbol(), ""))


def default_balance_cents() -> int:
    """Return the credit a new requester starts with (`MARKETPLACE_DEFAULT_BALANCE_CENTS`)."""
    return int(getattr(settings, "MARKETPLACE_DEFAULT_BALANCE_CENTS", 1_000_000))


def session_lifetime() -> timedelta:
    """Return how long a sign-in lasts (`MARKETPLACE_SESSION_DAYS`)."""
    return timedelta(days=int(getattr(settings, "MARKETPLACE_SESSION_DAYS", 30)))


def client_address_header() -> str:
    """Return which header of the front server says where a request came from, "" without one.

    `MARKETPLACE_CLIENT_ADDRESS_HEADER`, like `X-Forwarded-For`; others' headers are not believed.
    """
    return str(getattr(settings, "MARKETPLACE_CLIENT_ADDRESS_HEADER", ""))


def calls_per_second() -> float:
    """Return how often one account may call each process; 0 = no limit.

    `MARKETPLACE_CALLS_PER_SECOND`, with a burst of two seconds' worth.
    """
    return float(getattr(settings, "MARKETPLACE_CALLS_PER_SECOND", 0))


def delivers_events() -> bool:
    """Return whether web processes deliver events themselves (`MARKETPLACE_DELIVER_EVENTS`)."""
    return bool(getattr(settings, "MARKETPLACE_DELIVER_EVENTS", True))


def private_webhooks() -> bool:
    """Return whether events may go to private addresses (`MARKETPLACE_PRIVATE_WEBHOOKS`).

    Else a requester could make the marketplace call what only it can reach.
    """
    return bool(getattr(settings, "MARKETPLACE_PRIVATE_WEBHOOKS", False))
