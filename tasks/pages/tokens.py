"""Tokens that stand for a worker's stay: carried in the page and in headers, never in a cookie."""

from datetime import datetime

from django.core import signing
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from tasks.models import Lease, Session, Worker
from tasks.pages.stays import held_lease

LEASE_SALT = "collector.lease"
SESSION_SALT = "collector.session"
GONE = "This page is no longer valid. Reload it from the marketplace; what you wrote is kept."


def lease_token(lease: Lease) -> str:
    """Return the token a page carries for its lease."""
    return signing.dumps([lease.pk, lease.worker_id], salt=LEASE_SALT, compress=False)


def session_token(session: Session) -> str:
    """Return the token the consent form carries for its session."""
    return signing.dumps([session.pk, session.worker_id], salt=SESSION_SALT)


def session_of(token: str) -> Session | None:
    """Return the session a consent form belongs to; None for a forged token."""
    try:
        pk, worker_id = signing.loads(token, salt=SESSION_SALT)
    except (signing.BadSignature, ValueError, TypeError):
        return None
    return Session.objects.filter(pk=pk, worker_id=worker_id).first()


class LeaseToken(BaseAuthentication):
    """Authenticates `Authorization: Bearer <token>`; request.auth is the lease."""

    def authenticate(self, request: Request) -> tuple[Worker, Lease] | None:
        """Return worker and lease; raises AuthenticationFailed for anything but a good token."""
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        try:
            if scheme != "Bearer":
                raise signing.BadSignature
            pk, worker_id = signing.loads(token, salt=LEASE_SALT)
        except (signing.BadSignature, ValueError, TypeError):
            raise AuthenticationFailed(GONE) from None
        lease = held_lease(pk, worker_id)
        if lease is None:
            raise AuthenticationFailed(GONE)
        return lease.worker, lease

    def authenticate_header(self, request: Request) -> str:
        """Return the scheme, so that a refusal is answered with 401."""
        return "Bearer"


def is_over(signed_until: datetime | None, now: datetime) -> bool:
    """Return whether an entry signature's time has passed."""
    return signed_until is not None and signed_until < now
