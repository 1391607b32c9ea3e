"""Who enters a HIT's page: the frame's address is proven before anything is believed."""

import hashlib
import hmac
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.http import QueryDict

from common.storable import is_text
from tasks.crowd import marketplace
from tasks.crowd.requester_api import read_keys
from tasks.models import Lease, LeaseState, Posting, Session
from tasks.people.identity import worker_known_as

PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
# What the columns of a session hold.
LONGEST_ID = 200
LONGEST_ADDRESS = 500


class Refused(Exception):
    """The entry is not believed; `title` and the message are shown to whoever came."""

    def __init__(self, title: str, message: str) -> None:
        super().__init__(message)
        self.title = title


@dataclass(frozen=True)
class Entry:
    """What the query string claims, with its claims proven; a preview claims only the HIT."""

    hit_id: str
    preview: bool
    assignment_id: str = ""
    person: str = ""
    submit_url: str = ""
    expires_at: datetime | None = None


def read(query: QueryDict, now: datetime) -> Entry:
    """Return the proven entry.

    Raises Refused for a missing, forged or expired signature, or a foreign address to hand the
    work back to.
    """
    hit_id = query.get("hitId", "")
    if query.get("assignmentId", PREVIEW) == PREVIEW:
        return Entry(hit_id, preview=True)
    expires = _proven(query, now)
    return Entry(
        hit_id,
        preview=False,
        assignment_id=_kept(query.get("assignmentId", "")),
        person=_kept(query.get("workerId", "")),
        submit_url=_allowed(query.get("turkSubmitTo", "")),
        expires_at=expires,
    )


def _kept(identifier: str) -> str:
    """Return an id that a column can hold; raises Refused."""
    if len(identifier) <= LONGEST_ID and is_text(identifier):
        return identifier
    raise _changed()


def _changed() -> Refused:
    return Refused(
        "We could not check who you are",
        "The address of this page was changed on the way. "
        "Open the HIT again from the marketplace; nothing you wrote is lost.",
    )


def posting_of(entry: Entry) -> Posting:
    """Return our posting of the HIT; raises Refused for one that is not ours."""
    posting = entry.hit_id.isalnum() and (
        Posting.objects.select_related("stage__collection")
        .filter(
            provider=marketplace.PROVIDER,
            environment=marketplace.environment(),
            external_id=entry.hit_id,
        )
        .first()
    )
    if not posting:
        raise Refused(
            "We do not know this HIT",
            "The address names no HIT of ours. Open it again from the marketplace.",
        )
    return posting


def _proven(query: QueryDict, now: datetime) -> datetime:
    """Return until when the signature holds; raises Refused."""
    names = ("assignmentId", "hitId", "workerId", "entryExpires")
    claims = "\n".join(query.get(name, "") for name in names)
    keys = settings.MTURK_KEYS_FILE
    secret = _secret(keys, keys.stat().st_mtime_ns if keys.exists() else 0)
    expected = hmac.new(secret.encode(), claims.encode(), hashlib.sha256).hexdigest()
    given = query.get("entrySignature", "")
    if not query.get("workerId") or not hmac.compare_digest(expected.encode(), given.encode()):
        raise _changed()
    try:
        expires = datetime.fromtimestamp(int(query.get("entryExpires", "0")), UTC)
    except (ValueError, OverflowError, OSError):
        raise _changed() from None
    if expires < now:
        raise Refused(
            "The time of this HIT is over",
            "Its address is no longer valid. What you wrote is kept: "
            "accept a HIT of this kind again and you go on where you stopped.",
        )
    return expires


@lru_cache(maxsize=8)
def _secret(keys: Path, changed: int) -> str:
    """Return the entry secret in the file `keys` as it was last `changed`."""
    return read_keys(keys).entry_secret


def _allowed(address: str) -> str:
    """Return the address to hand work back to, without its trailing slash; raises Refused."""
    try:
        parts = urlsplit(address)
        origin = f"{parts.scheme}://{parts.netloc}"
    except ValueError:
        origin = ""
    if (
        origin not in settings.SUBMIT_ORIGINS
        or len(address) > LONGEST_ADDRESS
        or not is_text(address)
    ):
        raise Refused(
            "This HIT cannot be handed in",
            "It would send your work to an address we do not know. "
            "Open the HIT again from the marketplace.",
        )
    return address.rstrip("/")


def open_session(entry: Entry, posting: Posting, now: datetime) -> Session:
    """Return the person's stay on the posting; whoever held it before has returned it."""
    with transaction.atomic():
        worker = worker_known_as(entry.person, now)
        session, _ = Session.objects.get_or_create(
            provider=marketplace.PROVIDER,
            environment=marketplace.environment(),
            person=entry.person,
            session_id=entry.assignment_id,
            posting=posting,
            defaults={
                "worker": worker,
                "submit_url": entry.submit_url,
                "signed_until": entry.expires_at,
                "started_at": now,
            },
        )
        if session.submit_url != entry.submit_url:
            # The same person took the same place again: only the newest address hands in.
            session.submit_url, session.signed_until = entry.submit_url, entry.expires_at
            session.save(update_fields=["submit_url", "signed_until"])
    return session


def check_holds(entry: Entry, posting: Posting) -> None:
    """Raise Refused when somebody accepted the HIT after this address was signed."""
    if entry.expires_at is None:
        return
    others = Session.objects.filter(posting=posting, signed_until__gt=entry.expires_at)
    if others.exclude(person=entry.person).exists():
        raise Refused(
            "You have returned this HIT",
            "Somebody else has it now. What you wrote is kept: accept a HIT of this kind again "
            "and you go on where you stopped.",
        )


def others_leases(session: Session) -> list[Lease]:
    """Return live leases of people who held this posting before and have returned it."""
    return list(
        Lease.objects.filter(session__posting=session.posting_id, state=LeaseState.LIVE).exclude(
            session=session
        )
    )
