"""Tokens that stand for a worker's stay: carried in the page and in headers, never in a cookie."""

from datetime import datetime, timedelta

from django.core import signing
from django.db.models import Q
from django.http import HttpRequest
from rest_framework.exceptions import AuthenticationFailed

from tasks.models import Lease, Session
from tasks.people.lease_context import held_lease

LEASE_SALT = "collector.lease"
SESSION_SALT = "collector.session"
LONGEST_STAY = timedelta(days=7)
GONE = "This page is no longer valid. Reload it from the marketplace; what you wrote is kept."


def lease_token(lease: Lease) -> str:
    """Return the token a page carries for its lease."""
    return signing.dumps([lease.pk, lease.worker_id], salt=LEASE_SALT, compress=False)


def session_token(session: Session) -> str:
    """Return the token the consent form carries for its session."""
    return signing.dumps([session.pk, session.worker_id], salt=SESSION_SALT)


def session_of(token: str, now: datetime) -> Session | None:
    """Return the session a consent form belongs to; None for a forged token or an ended stay."""
    try:
        pk, worker_id = signing.loads(token, salt=SESSION_SALT)
    except (signing.BadSignature, ValueError, TypeError):
        return None
    still = Q(signed_until__isnull=True) | Q(signed_until__gte=now)
    return Session.objects.filter(still, pk=pk, worker_id=worker_id).first()


def bearers_lease(request: HttpRequest) -> Lease:
    """Return the lease of `Authorization: Bearer <token>`, with the rows around it.

    Raises AuthenticationFailed for anything but a good token.
    """
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    try:
        if scheme != "Bearer":
            raise signing.BadSignature
        pk, worker_id = signing.loads(token, salt=LEASE_SALT, max_age=LONGEST_STAY)
    except (signing.BadSignature, ValueError, TypeError):
        raise AuthenticationFailed(GONE) from None
    lease = held_lease(pk, worker_id)
    # Whoever was forgotten has no address left to hand anything back to.
    if lease is None or not lease.session.submit_url:
        raise AuthenticationFailed(GONE)
    return lease
