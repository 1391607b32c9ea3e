"""Who enters a HIT's page: the frame's address is proven before anything is believed."""

import hmac
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.db import IntegrityError, transaction
from django.http import QueryDict

from common.prepared_sql import JoinedQuery, Table, insert
from common.storable import is_text
from tasks.crowd import marketplace
from tasks.crowd.requester_api import read_keys
from tasks.models import Identity, Lease, LeaseState, Posting, Session, Worker

PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
# What the columns of a session hold.
LONGEST_ID = 200
LONGEST_ADDRESS = 500
SESSION_QUERY = JoinedQuery(
    Table("identity", Identity, "id"),
    Table("worker", Worker, "id preferences synthetic", "worker.id = identity.worker_id"),
    Table(
        "session",
        Session,
        "id worker_id session_id submit_url signed_until posting_id",
        "session.posting_id = %(posting)s AND session.session_id = %(session)s"
        " AND session.person = identity.person AND session.provider = identity.provider"
        " AND session.environment = identity.environment",
        optional=True,
    ),
)


class Refused(Exception):
    """The entry is not believed; `title` and the message are shown to the person."""

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


def _proven(query: QueryDict, now: datetime) -> datetime:
    """Return until when the signature holds; raises Refused."""
    names = ("assignmentId", "hitId", "workerId", "entryExpires")
    claims = "\n".join(query.get(name, "") for name in names)
    keys = settings.MTURK_KEYS_FILE
    secret = _secret(keys, keys.stat().st_mtime_ns if keys.exists() else 0)
    expected = hmac.digest(secret.encode(), claims.encode(), "sha256").hex()
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
    """Return the person's session on the posting; who held it before has returned it."""
    try:
        return _open_session(entry, posting, now)
    except IntegrityError:
        # Another page of the same person was first.
        return _open_session(entry, posting, now)


def _open_session(entry: Entry, posting: Posting, now: datetime) -> Session:
    worker, session = _known(entry, posting)
    if session is None:
        # Who is new is stored with their stay; one statement needs no transaction around it.
        with nullcontext() if worker else transaction.atomic():
            session = _begun(entry, posting, worker or worker_known_as(entry.person, now), now)
    elif session.submit_url != entry.submit_url:
        # The same person took the same place again: only the newest address hands in.
        session.submit_url, session.signed_until = entry.submit_url, entry.expires_at
        session.save(update_fields=["submit_url", "signed_until"])
    session.posting = posting
    return session


def _begun(entry: Entry, posting: Posting, worker: Worker, now: datetime) -> Session:
    session = Session(
        provider=marketplace.PROVIDER,
        environment=marketplace.environment(),
        person=entry.person,
        session_id=entry.assignment_id,
        posting=posting,
        worker=worker,
        submit_url=entry.submit_url,
        signed_until=entry.expires_at,
        started_at=now,
    )
    insert(session)
    return session


def _known(entry: Entry, posting: Posting) -> tuple[Worker | None, Session | None]:
    """Return the person's worker and their stay on the posting, as far as there are any."""
    row = SESSION_QUERY.first(
        "identity.provider = %(provider)s AND identity.environment = %(environment)s"
        " AND identity.person = %(person)s",
        provider=marketplace.PROVIDER,
        environment=marketplace.environment(),
        person=entry.person,
        session=entry.assignment_id,
        posting=posting.pk,
    )
    if row is None:
        return None, None
    _, worker, session = row
    return worker, session


def others_leases(session: Session) -> list[Lease]:
    """Return live leases of people who held this posting before and have returned it."""
    return list(
        Lease.objects.filter(session__posting=session.posting_id, state=LeaseState.LIVE).exclude(
            session=session
        )
    )


def worker_known_as(person: str, now: datetime) -> Worker:
    """Return the worker whom the marketplace calls `person`, a new one on first sight.

    Expects a transaction.
    """
    here = {"provider": marketplace.PROVIDER, "environment": marketplace.environment()}
    identity = Identity.objects.select_related("worker").filter(**here, person=person).first()
    if identity is None:
        worker = Worker.objects.create(created_at=now)
        identity, made = Identity.objects.get_or_create(
            **here, person=person, defaults={"worker": worker}
        )
        if not made:
            worker.delete()
    return identity.worker
