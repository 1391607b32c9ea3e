"""Refuses a signed request that was carried out already: the same bytes sent again."""

from datetime import datetime, timedelta

from common.prepared_sql import execute
from marketplace.models import SeenRequest
from marketplace.router import DATABASE
from marketplace.wire.errors import WireError

# Twice what a signature is good for, either way.
REMEMBERED = timedelta(minutes=20)
SEEN = (
    f"INSERT INTO {SeenRequest._meta.db_table} (attempt, seen_at) VALUES (%s, %s) "
    "ON CONFLICT DO NOTHING RETURNING id"
)


def refuse_replay(attempt: str, now: datetime) -> None:
    """Remember an attempt of a change; raises `InvalidSignatureException` when it was seen.

    Clients number their attempts outside the signature, so this stops who sends again what they
    heard, not who changes the number; that needs TLS in front. One that nothing names passes.
    """
    if not attempt:
        return
    if not execute(SEEN, [attempt, now], DATABASE):
        raise replayed()
    forget_old(attempt, now)


def replayed() -> WireError:
    """Return the refusal of an attempt that was seen before."""
    return WireError(
        "InvalidSignatureException",
        "This very request was carried out before; sign each request anew.",
    )


def forget_old(attempt: str, now: datetime) -> None:
    """Clean up now and then, which is enough; what is old is refused for its age."""
    if attempt.startswith("000"):
        SeenRequest.objects.filter(seen_at__lt=now - REMEMBERED).delete()
