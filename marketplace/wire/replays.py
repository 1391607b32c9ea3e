"""Carries each attempt of a change out once: the same bytes sent again are refused."""

from datetime import datetime, timedelta

from marketplace.models import SeenRequest
from marketplace.prepared import execute
from marketplace.wire.errors import WireError

# Twice what a signature is good for, either way.
REMEMBERED = timedelta(minutes=20)
READING = ("Get", "List")
SEEN = (
    f"INSERT INTO {SeenRequest._meta.db_table} (attempt, seen_at) VALUES (%s, %s) "
    "ON CONFLICT DO NOTHING RETURNING id"
)


def refuse_replay(operation: str, attempt: str, now: datetime) -> None:
    """Remember an attempt of a change; raises `InvalidSignatureException` when it was seen.

    Clients number their attempts outside the signature, so this stops who sends again what they
    heard, not who changes the number; that needs TLS in front.
    """
    if operation.startswith(READING):
        return
    if not execute(SEEN, [attempt, now]):
        raise WireError(
            "InvalidSignatureException",
            "This very request was carried out before; sign each request anew.",
        )
    # Cleaning up now and then is enough; what is old is refused for its age.
    if attempt.startswith("000"):
        SeenRequest.objects.filter(seen_at__lt=now - REMEMBERED).delete()
