"""Holds money for everybody who works on a HIT, also where somebody did before.

A HIT holds its reward once. Who ran out of time may still hand in, or is paid for what was saved:
before somebody else takes the HIT over, as much is held for the one who was there.
"""

from datetime import datetime

from django.db import transaction
from django.db.models import Q, QuerySet

from collector.models import Collection
from collector.protocols.parameters import Parameters
from common.prepared_sql import JoinedQuery, Statements, Table
from tasks.ledger import budget
from tasks.models import Lease, LeaseState, Posting, PostingState, Session, Submission

# Of these something may come that is paid: late work, or the share of what was saved.
OPEN = (LeaseState.LIVE, LeaseState.EXPIRED)
# In one statement, so that who is not among the people has been paid out of what it shows.
HERE = JoinedQuery(
    Table("posting", Posting, "id state reward_cents reserved_cents"),
    Table("session", Session, "id", "session.posting_id = posting.id", optional=True),
    Table(
        "lease",
        Lease,
        "id unit_id worker_id session_id state reserved_cents",
        "lease.session_id = session.id AND lease.compensated = FALSE"
        " AND lease.state IN ('live', 'expired')",
        optional=True,
    ),
    Table("submission", Submission, "id lease_id", "submission.lease_id = lease.id", optional=True),
)


class ReserveFailed(Exception):
    """The collection may not cost so much: nobody can take the HIT over until it is settled."""


def posting_and_open_leases(
    session: Session, before: Statements = ()
) -> tuple[Posting, list[Lease]]:
    """Return the session's HIT as it is now, and all that was begun on it and may yet be paid.

    before: statements after which that is read.
    """
    rows = HERE.all("posting.id = %(posting)s", before, posting=session.posting_id)
    posting = rows[0][0]
    return posting, [lease for _, _, lease, done in rows if lease is not None and done is None]


def mark_reserves(posting: Posting, before: list[Lease], parameters: Parameters) -> list[Lease]:
    """Note on every lease that has nothing held for it what it may earn, and return those leases.

    Expects a transaction, which `fund` completes once the unit is taken: rows are locked in the
    order in which a submission locks them. Raises ReserveFailed if one has moved on meanwhile.
    """
    cost = cost_cents(posting, parameters)
    missing = [lease for lease in before if cost and not lease.reserved_cents]
    for lease in missing:
        rows = Lease.objects.filter(pk=lease.pk, state__in=OPEN, compensated=False)
        if not rows.filter(reserved_cents=0).update(reserved_cents=cost):
            raise ReserveFailed
        if Submission.objects.filter(lease=lease).exists():
            raise ReserveFailed
    return missing


def hold_reserves(
    session: Session, posting: Posting, promised: list[Lease], unit_id: int, parameters: Parameters
) -> int:
    """Hold what was promised, and return the cents held for a new lease itself beside its HIT's.

    Who goes on with the very unit they had begun is paid for it once. Raises ReserveFailed.
    """
    cost = cost_cents(posting, parameters)
    again = [
        lease.pk
        for lease in promised
        if (lease.worker_id, lease.unit_id) == (session.worker_id, unit_id)
    ]
    if again:
        Lease.objects.filter(pk__in=again).update(reserved_cents=0)
    has_own = posting.state == PostingState.LIVE and posting.reserved_cents >= cost
    own = 0 if has_own else cost
    wanted = (len(promised) - len(again)) * cost + own
    if wanted and not budget.reserve(session.posting.stage.collection_id, wanted):
        raise ReserveFailed
    return own


def cost_cents(posting: Posting, parameters: Parameters) -> int:
    """Return what the posting's reward costs, with its fee."""
    return posting.reward_cents + budget.fee_cents(posting.reward_cents, parameters.pay)


def take_reserve(lease: Lease) -> int:
    """Return the cents that are held for the lease itself, which holds them no more."""
    held = Lease.objects.filter(pk=lease.pk).values_list("reserved_cents", flat=True).get()
    if held and Lease.objects.filter(pk=lease.pk, reserved_cents=held).update(reserved_cents=0):
        return held
    return 0


def take_from_posting(lease: Lease, cents: int, now: datetime) -> bool:
    """Take the money of the lease's HIT that nobody works on; False where it has too little.

    The HIT ends, and another is put up for the place as far as there is money for it.
    """
    at_work = Lease.objects.filter(session__posting=lease.session.posting_id, state=LeaseState.LIVE)
    posting = Posting.objects.filter(pk=lease.session.posting_id, state=PostingState.LIVE).first()
    if posting is None or posting.reserved_cents < cents or at_work.exists():
        return False
    rows = Posting.objects.filter(pk=posting.pk, reserved_cents=posting.reserved_cents)
    left = posting.reserved_cents - cents
    return bool(rows.filter(state=PostingState.LIVE).update(reserved_cents=left, expires_at=now))


def hand_on_reserve(posting: Posting) -> bool:
    """Leave the money of a HIT that ends to a worker who began it and may yet be paid, if any.

    Expects a transaction; returns whether somebody has it now.
    """
    begun = Lease.objects.filter(
        session__posting=posting,
        state__in=OPEN,
        compensated=False,
        reserved_cents=0,
        submission__isnull=True,
    ).first()
    return begun is not None and bool(
        Lease.objects.filter(
            pk=begun.pk, state__in=OPEN, compensated=False, reserved_cents=0
        ).update(reserved_cents=posting.reserved_cents)
    )


def release_ended(collection: Collection) -> int:
    """Release what is held for stays that came to their end without it; returns how many."""
    over = Q(state__in=[LeaseState.RETURNED, LeaseState.SUBMITTED]) | Q(compensated=True)
    ended = Lease.objects.filter(
        over | Q(submission__isnull=False),
        unit__stage__collection=collection,
        reserved_cents__gt=0,
    )
    released = 0
    for lease in ended:
        with transaction.atomic():
            held = take_reserve(lease)
            budget.release(collection.pk, held)
        released += bool(held)
    return released


def unpaid_leases(collection: Collection) -> "QuerySet[Lease]":
    """Return the leases that ran out of time with something saved or held, and are not paid yet."""
    return Lease.objects.filter(
        Q(draft__isnull=False) | Q(reserved_cents__gt=0),
        unit__stage__collection=collection,
        state=LeaseState.EXPIRED,
        submission__isnull=True,
        compensated=False,
    )
