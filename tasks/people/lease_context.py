"""Reads a request's lease with the rows around it, in one SQL statement."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from json import dumps
from typing import Any

from django.core import signing
from django.db.models import Q
from django.http import HttpRequest
from rest_framework.exceptions import AuthenticationFailed

from collector.models import Collection, CollectionText, Stage
from collector.protocols.creation import StoredParameters, parameters_text
from common.committed_cache import kept_once_committed
from common.prepared_sql import JoinedQuery, Table, relate
from tasks.crowd import marketplace
from tasks.models import Lease, LeaseState, Posting, Session, Unit, Worker
from tasks.people.entry import Entry

UNIT = Lease._meta.get_field("unit")
LEASE_TABLES = (
    Table(
        "lease",
        Lease,
        "id unit_id worker_id session_id state taken_at expires_at draft_version"
        " draft_saved_at active_seconds reserved_cents instructions_id",
    ),
    Table("worker", Worker, "id preferences synthetic", "worker.id = lease.worker_id"),
    Table("unit", Unit, "id stage_id", "unit.id = lease.unit_id"),
    Table(
        "session",
        Session,
        "id session_id submit_url signed_until posting_id",
        "session.id = lease.session_id",
    ),
    Table(
        "posting",
        Posting,
        "id stage_id token state reward_cents reserved_cents",
        "posting.id = session.posting_id",
    ),
)
STAGE = Table("stage", Stage, "id collection_id name kind")
COLLECTION = Table(
    "collection",
    Collection,
    "id slug title protocol protocol_version corpus_id requester_name requester_contact"
    " ethics_number",
    "collection.id = stage.collection_id",
)
WORDS = Table("words", CollectionText, "id version markdown", "words.collection_id = collection.id")
PARAMETERS = "collection.parameters"
LEASE_QUERY = JoinedQuery(
    *LEASE_TABLES, replace(STAGE, on="stage.id = unit.stage_id"), COLLECTION, plain=(PARAMETERS,)
)
LEASE_WITH_DRAFT_QUERY = JoinedQuery(
    *LEASE_TABLES,
    replace(STAGE, on="stage.id = unit.stage_id"),
    COLLECTION,
    replace(WORDS, on="words.id = lease.instructions_id"),
    plain=(PARAMETERS, "lease.draft"),
)
STAGE_QUERY = JoinedQuery(STAGE, COLLECTION, WORDS, plain=(PARAMETERS,))
LEASE_SALT = "collector.lease"
SESSION_SALT = "collector.session"
LONGEST_STAY = timedelta(days=7)
GONE = "This page is no longer valid. Reload it from the marketplace; what you wrote is kept."


@dataclass(frozen=True)
class StageContext:
    """A stage with its collection, the words shown on it, and its parameters as JSON text."""

    stage: Stage
    words: CollectionText
    parameters: str


@dataclass(frozen=True)
class LeaseContext:
    """A lease on the page, with its draft as JSON text."""

    lease: Lease
    draft: str
    setting: StageContext


def resume(entry: Entry) -> LeaseContext | None:
    """Return the lease that an entry claims, or None; a reloaded page needs it.

    A lease that ran out of time goes on with its draft, which can still be handed in as long as the
    entry is proven.
    """
    if entry.preview:
        return None
    return _context(
        LEASE_WITH_DRAFT_QUERY.first(
            "session.provider = %(provider)s AND session.environment = %(environment)s"
            " AND session.person = %(person)s AND session.session_id = %(session)s"
            " AND session.submit_url = %(address)s AND posting.external_id = %(hit)s"
            " AND (lease.state = %(live)s OR lease.state = %(expired)s"
            " AND lease.draft IS NOT NULL AND NOT lease.paid)"
            " ORDER BY lease.id DESC",
            provider=marketplace.PROVIDER,
            environment=marketplace.environment(),
            person=entry.person,
            session=entry.assignment_id,
            address=entry.submit_url,
            hit=entry.hit_id,
            live=LeaseState.LIVE.value,
            expired=LeaseState.EXPIRED.value,
        )
    )


def context_of(lease: Lease) -> LeaseContext:
    """Return a lease that was claimed just now, as its page needs it.

    A new lease has the rows around it already. For a lease that existed before, they are read.
    """
    if not UNIT.is_cached(lease):
        found = _context(LEASE_WITH_DRAFT_QUERY.first("lease.id = %(lease)s", lease=lease.pk))
        assert found is not None
        return found
    lease.worker, stage = lease.session.worker, lease.unit.stage
    words = words_of(lease.instructions_id)
    setting = StageContext(stage, words, parameters_text(stage.collection))
    return LeaseContext(lease, dumps(lease.draft), setting)


@kept_once_committed(64)
def words_of(text_id: int) -> CollectionText:
    """Return one version of a text for workers; a version never changes."""
    return CollectionText.objects.get(pk=text_id)


def held_lease(lease_id: int, worker_id: str) -> Lease | None:
    """Return a worker's lease, in any state, with the rows around it; None if there is none."""
    row = LEASE_QUERY.first(
        "lease.id = %(lease)s AND lease.worker_id = %(worker)s", lease=lease_id, worker=worker_id
    )
    if row is None:
        return None
    *rows, parameters = row
    return _joined(rows, parameters)


def stage_context_of(stage_id: int, words_id: int) -> StageContext:
    """Return a stage with its collection and one version of its words."""
    row = STAGE_QUERY.first(
        "stage.id = %(stage)s AND words.id = %(words)s", stage=stage_id, words=words_id
    )
    assert row is not None
    stage, collection, words, parameters = row
    return StageContext(with_parameters(stage, collection, parameters), words, parameters)


def _context(row: list[Any] | None) -> LeaseContext | None:
    if row is None:
        return None
    *rows, words, parameters, draft = row
    lease = _joined(rows, parameters)
    return LeaseContext(lease, draft or "null", StageContext(lease.unit.stage, words, parameters))


def _joined(rows: list[Any], parameters: str) -> Lease:
    lease, worker, unit, session, posting, stage, collection = rows
    with_parameters(stage, collection, parameters)
    relate(lease, worker=worker, unit=unit, session=session)
    relate(session, posting=posting)
    relate(unit, stage=stage)
    relate(posting, stage=stage)
    return lease  # type: ignore[no-any-return]


def with_parameters(stage: Stage, collection: Collection, parameters: str) -> Stage:
    """Return the stage with its collection, whose parameters are given as JSON text."""
    collection.parameters = _parsed(parameters)
    relate(stage, collection=collection)
    return stage


@lru_cache(maxsize=64)
def _parsed(parameters: str) -> StoredParameters:
    """Return a collection's parameters, cached by their JSON text."""
    return StoredParameters(parameters)


def lease_token(lease: Lease) -> str:
    """Return the token a page carries for its lease."""
    return signing.dumps([lease.pk, lease.worker_id], salt=LEASE_SALT, compress=False)


def session_token(session: Session) -> str:
    """Return the token the consent form carries for its session."""
    return signing.dumps([session.pk, session.worker_id], salt=SESSION_SALT)


def session_of(token: str, now: datetime) -> Session | None:
    """Return the session of a consent form; None for a forged token or an ended session."""
    try:
        pk, worker_id = signing.loads(token, salt=SESSION_SALT)
    except (signing.BadSignature, ValueError, TypeError):
        return None
    still = Q(signed_until__isnull=True) | Q(signed_until__gte=now)
    return Session.objects.filter(still, pk=pk, worker_id=worker_id).first()


def bearers_lease(request: HttpRequest) -> Lease:
    """Return the lease of `Authorization: Bearer <token>`, with the rows around it.

    Raises AuthenticationFailed for an invalid token.
    """
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    try:
        if scheme != "Bearer":
            raise signing.BadSignature
        pk, worker_id = signing.loads(token, salt=LEASE_SALT, max_age=LONGEST_STAY)
    except (signing.BadSignature, ValueError, TypeError):
        raise AuthenticationFailed(GONE) from None
    lease = held_lease(pk, worker_id)
    # Once a person's data was erased, there is no address left to hand work in to.
    if lease is None or not lease.session.submit_url:
        raise AuthenticationFailed(GONE)
    return lease
