"""Reads the host's choices from Django's settings, each with its default."""

from datetime import timedelta
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest

FIVE_DAYS_SECONDS = 5 * 24 * 3600


def base_url(request: HttpRequest) -> str:
    """Return the marketplace's own address without a trailing slash (`MARKETPLACE_BASE_URL`)."""
    configured = getattr(settings, "MARKETPLACE_BASE_URL", "")
    return (configured or request.build_absolute_uri("/")).rstrip("/")


def is_own_origin(url: str, request: HttpRequest) -> bool:
    """Tell whether `url` has the marketplace's own host and port, whatever its scheme."""
    own = {_host_and_port(base_url(request)), _host_and_port(request.build_absolute_uri("/"))}
    return _host_and_port(url) in own


def _host_and_port(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    default = 443 if parts.scheme == "https" else 80
    return ((parts.hostname or "").rstrip(".").lower(), parts.port or default)


def open_sign_in() -> bool:
    """Tell whether anybody may work under a name of their choice (`MARKETPLACE_OPEN_SIGN_IN`)."""
    return bool(getattr(settings, "MARKETPLACE_OPEN_SIGN_IN", False))


def auto_approval_cap_seconds() -> int:
    """Return the longest a requester may leave work undecided (`MARKETPLACE_AUTO_APPROVAL_CAP`)."""
    return int(getattr(settings, "MARKETPLACE_AUTO_APPROVAL_CAP", FIVE_DAYS_SECONDS))


def queue_limit() -> int:
    """Return how many HITs a worker may hold at once (`MARKETPLACE_QUEUE_LIMIT`)."""
    return int(getattr(settings, "MARKETPLACE_QUEUE_LIMIT", 25))


def currency_symbol() -> str:
    """Return the sign written before amounts (`MARKETPLACE_CURRENCY_SYMBOL`)."""
    return str(getattr(settings, "MARKETPLACE_CURRENCY_SYMBOL", "$"))


def default_balance_cents() -> int:
    """Return the credit a new requester starts with (`MARKETPLACE_DEFAULT_BALANCE_CENTS`)."""
    return int(getattr(settings, "MARKETPLACE_DEFAULT_BALANCE_CENTS", 1_000_000))


def session_lifetime() -> timedelta:
    """Return how long a sign-in lasts (`MARKETPLACE_SESSION_DAYS`)."""
    return timedelta(days=int(getattr(settings, "MARKETPLACE_SESSION_DAYS", 30)))
