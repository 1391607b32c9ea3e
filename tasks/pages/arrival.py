"""Somebody comes to a HIT they have just accepted: what is known of it and of them, at once."""

from dataclasses import dataclass, replace

from common.prepared_sql import JoinedQuery, Table, execute
from tasks.crowd import marketplace
from tasks.models import Posting, Session
from tasks.people.entry import Entry, Refused
from tasks.people.lease_context import COLLECTION, PARAMETERS, STAGE, with_parameters

TAKEN_SINCE = """EXISTS (
    SELECT 1 FROM tasks_session later
    WHERE later.posting_id = posting.id AND later.signed_until > %(until)s
        AND later.person <> %(person)s
)"""
HELD = """EXISTS (
    SELECT 1 FROM tasks_lease lease JOIN tasks_session stay ON stay.id = lease.session_id
    WHERE stay.posting_id = posting.id AND lease.state = 'live'
)"""
POSTING_QUERY = JoinedQuery(
    Table(
        "posting",
        Posting,
        "id stage_id token external_id state reward_cents reserved_cents worker_id",
    ),
    replace(STAGE, names=f"{STAGE.names} state", on="stage.id = posting.stage_id"),
    replace(COLLECTION, names=f"{COLLECTION.names} state"),
    plain=(PARAMETERS, TAKEN_SINCE, HELD),
)
STANDING = """
SELECT consent.agreed,
    EXISTS (
        SELECT 1 FROM tasks_lease lease JOIN tasks_submission submission
            ON submission.lease_id = lease.id
        WHERE lease.session_id = %(session)s
    ),
    EXISTS (
        SELECT 1 FROM tasks_lease lease
        WHERE lease.session_id = %(session)s AND lease.state = 'live'
    ),
    EXISTS (
        SELECT 1 FROM tasks_lease lease JOIN tasks_unit unit ON unit.id = lease.unit_id
        WHERE lease.worker_id = %(worker)s AND unit.stage_id = %(stage)s
            AND lease.state = 'live' AND lease.session_id <> %(session)s
    )
FROM collector_collectiontext text
LEFT JOIN tasks_consent consent ON consent.text_id = text.id AND consent.worker_id = %(worker)s
WHERE text.collection_id = %(collection)s AND text.name = 'consent'
ORDER BY text.version DESC LIMIT 1
"""


@dataclass(frozen=True)
class Standing:
    """Where the person of a session stands with its HIT.

    agreed: what they answered to the newest consent text; None before they have. works_elsewhere:
    at another HIT of the stage.
    """

    agreed: bool | None
    has_handed_in: bool
    works_here: bool
    works_elsewhere: bool


def posting_of(entry: Entry) -> tuple[Posting, bool]:
    """Return our posting of the HIT, and whether somebody is at work on it.

    Raises Refused for a HIT that is not ours, or that somebody accepted after this address was
    signed.
    """
    row = entry.hit_id.isalnum() and POSTING_QUERY.first(
        "posting.provider = %(provider)s AND posting.environment = %(environment)s"
        " AND posting.external_id = %(hit)s",
        provider=marketplace.PROVIDER,
        environment=marketplace.environment(),
        hit=entry.hit_id,
        until=entry.expires_at,
        person=entry.person,
    )
    if not row:
        raise Refused(
            "We do not know this HIT",
            "The address names no HIT of ours. Open it again from the marketplace.",
        )
    posting, stage, collection, parameters, taken_since, held = row
    if taken_since:
        raise Refused(
            "You have returned this HIT",
            "Somebody else has it now. What you wrote is kept: accept a HIT of this kind again "
            "and you go on where you stopped.",
        )
    posting.stage = with_parameters(stage, collection, parameters)
    return posting, bool(held)


def standing_of(session: Session) -> Standing:
    """Return where the session's person stands with its HIT."""
    stage = session.posting.stage
    who = {"session": session.pk, "worker": session.worker_id, "stage": stage.pk}
    [(agreed, *rest)] = execute(STANDING, {**who, "collection": stage.collection_id})
    return Standing(None if agreed is None else bool(agreed), *map(bool, rest))
