"""Pays for work the marketplace cannot: a HIT that only one worker can take."""

from datetime import datetime, timedelta
from fractions import Fraction
from math import ceil
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils.text import Truncator

from collector.models import Collection
from collector.protocols.creation import parameters_of
from common.actions import ActionError
from common.money import amount_of
from tasks.crowd import marketplace
from tasks.hits import find_forgotten, page_of, went_live
from tasks.ledger import budget, lease_reserves
from tasks.models import Lease, LeaseState, Payment, PaymentKind, Posting, PostingState, Worker
from tasks.people.qualifications import requester_keyword
from tasks.work import submissions
from tasks.work.kinds.registry import kind_of

LIFETIME = timedelta(days=30)
SAVED = "Work saved before the time ran out."


def owe_for_unfinished(lease: Lease, now: datetime) -> bool:
    """Owe what was saved before the time ran out, pro rata; returns whether anything is due.

    Nothing is due to a worker who has handed the unit in, or has taken it up again: the reward pays
    for it. A later stay of theirs at the unit began with what was saved here, and is looked at
    first. Where the budget cannot hold the amount the lease is met again once it has been raised.
    Locks the lease.
    """
    with transaction.atomic():
        # Who hands in late locks it too: the work is paid in one of the two ways.
        lease = submissions.locked(lease.pk)
        same = Lease.objects.filter(unit_id=lease.unit_id, worker_id=lease.worker_id)
        later = same.filter(state=LeaseState.EXPIRED, compensated=False, pk__gt=lease.pk)
        if lease.compensated or later.exists():
            return False
        held = Q(state__in=[LeaseState.LIVE, LeaseState.SUBMITTED])
        again = same.filter(held | Q(paid=True) | Q(submission__isnull=False))
        amount = 0 if again.exists() else worth_cents(lease)
        if amount and compensate(lease, amount, SAVED, now) is None:
            return False
        Lease.objects.filter(pk=lease.pk).update(compensated=True)
        budget.release(lease.unit.stage.collection_id, lease_reserves.take_reserve(lease))
    return bool(amount)


def worth_cents(lease: Lease) -> int:
    """Return the reward's share for the items of the draft that could be handed in as they are."""
    stage = lease.unit.stage
    table = parameters_of(stage.collection).stages()[stage.name]
    draft = lease.draft if isinstance(lease.draft, dict) else {}
    kind = kind_of(stage)
    items = kind.page_items(lease.unit)
    found = submissions.examine(lease, draft.get("data"), items)
    broken = {problem.index for problem in found.problems if problem.index is not None}
    good = {
        name: [entry for index, entry in enumerate(entries) if index not in broken]
        for name, entries in found.data.items()
    }
    share = kind.share_done(good, table, lease.unit.items.count())
    return share_cents(share, lease.session.posting.reward_cents)


def share_cents(share: Fraction, reward_cents: int) -> int:
    """Return a share of a reward in whole cents, rounded up: a part of a cent is the worker's."""
    return ceil(share * reward_cents)


def compensate(lease: Lease, amount_cents: int, reason: str, now: datetime) -> Payment | None:
    """Return the one compensation of a worker for a unit, with a HIT only they can take.

    None when the budget cannot hold it; the requester is shown what could not be paid.
    """
    try:
        return _compensate(lease, amount_cents, reason, now)
    except IntegrityError:
        # Another round was quicker by a moment: its payment is there now.
        return _compensate(lease, amount_cents, reason, now)


def _compensate(lease: Lease, amount_cents: int, reason: str, now: datetime) -> Payment | None:
    stage = lease.unit.stage
    fee = budget.fee_cents(amount_cents, parameters_of(stage.collection).pay)
    key = f"compensation:{lease.unit_id}:{lease.worker_id}"
    with transaction.atomic():
        found = Payment.objects.filter(key=key).first()
        if found:
            return found
        # The rows come before the budget's, in the order in which places are planned too.
        posting = open_posting(lease, amount_cents, key, now)
        payment = Payment.objects.create(
            collection=stage.collection,
            stage=stage,
            worker_id=lease.worker_id,
            posting=posting,
            kind=PaymentKind.COMPENSATION,
            amount_cents=amount_cents,
            fee_cents=fee,
            key=key,
            reason=reason,
            created_at=now,
        )
        cost = amount_cents + fee
        held = lease_reserves.take_reserve(lease)
        if held < cost:
            budget.release(stage.collection_id, held)
            held = cost
            # Work that was done is paid past the maximum total too, if the budget allows it.
            if not (
                budget.reserve(stage.collection_id, cost)
                or lease_reserves.take_from_posting(lease, cost, now)
                or budget.hold_for_work_done(stage.collection_id, cost, "compensation", now)
            ):
                transaction.set_rollback(True)
                return None
        budget.earn(stage.collection_id, reserved_cents=held, cost_cents=cost)
        Lease.objects.filter(pk=lease.pk).update(paid=True, compensated=True)
    return payment


def open_posting(lease: Lease, amount_cents: int, key: str, now: datetime) -> Posting:
    """Return a new posting for the lease's worker alone; its money is spent already.

    One that was taken back keeps its token: the marketplace would answer with its ended HIT.
    """
    stage = lease.unit.stage
    earlier = Posting.objects.filter(stage=stage, worker=lease.worker_id).count()
    return Posting.objects.create(
        stage=stage,
        provider=marketplace.PROVIDER,
        environment=marketplace.environment(),
        token=uuid5(NAMESPACE_URL, f"{stage.collection.pseudonym_key}/{key}/{earlier}"),
        reward_cents=amount_cents,
        worker_id=lease.worker_id,
        created_at=now,
        expires_at=now + LIFETIME,
    )


def publish_pending(collection: Collection, now: datetime) -> int:
    """Make a HIT of every compensation that has none; returns how many went live.

    Safe to run twice; raises MarketplaceError, and what went live before stays.
    """
    pending = Posting.objects.filter(
        stage__collection=collection,
        state=PostingState.PUBLISHING,
        worker__identity__isnull=False,
    ).select_related("worker__identity")
    made = find_forgotten(pending, now)

    def publish(posting: Posting) -> int:
        hit = made.get(str(posting.token)) or _create(posting, collection, now)
        return went_live(posting, hit)

    return marketplace.one_by_one(pending, publish)


def reopen_lapsed(collection: Collection, now: datetime) -> int:
    """Put every compensation HIT that was not taken in its time up again; returns how many.

    Raises MarketplaceError when it does not answer: nothing is put up while the one before can
    still be taken.
    """
    lapsed = Posting.objects.filter(
        stage__collection=collection,
        state=PostingState.LIVE,
        worker__isnull=False,
        expires_at__lt=now,
    )
    return marketplace.one_by_one(lapsed, lambda posting: _reopen(posting, now))


def take_down(worker: Worker) -> None:
    """End the HITs that only this worker can take, before what they pay is let go.

    Raises MarketplaceError, and ActionError where one was taken: it is paid.
    """
    up = Posting.objects.filter(worker=worker, state=PostingState.LIVE)
    if not all(_is_untaken(posting) for posting in up):
        raise ActionError(
            "This person has taken a HIT that pays what they are owed: wait until it is paid."
        )


def _is_untaken(posting: Posting) -> bool:
    """End a HIT, and return whether its worker neither holds it nor has handed it in."""
    marketplace.expire_hit(posting.external_id)
    return marketplace.is_vacant(posting.external_id) and not any(
        # What was handed in is paid when it is reconciled.
        marketplace.assignments_of(posting.external_id)
    )


def _reopen(posting: Posting, now: datetime) -> int:
    if not _is_untaken(posting):
        return 0
    return Posting.objects.filter(pk=posting.pk, token=posting.token).update(
        state=PostingState.PUBLISHING,
        external_id="",
        token=uuid5(posting.token, "again"),
        expires_at=now + LIFETIME,
    )


def _create(posting: Posting, collection: Collection, now: datetime) -> marketplace.Hit:
    """Return a HIT that only the posting's worker can see."""
    parameters = parameters_of(collection)
    only = marketplace.create_qualification(
        # Its worker reads the name in a message.
        name=f"Collect what you are owed, for {Truncator(collection.title).chars(80)}, "
        f"reference {posting.token.hex[:8]}",
        description=f"Lets one worker collect what {collection.requester_name} owes them.",
        keywords=f"{marketplace.UNLISTED}, {requester_keyword(collection)}",
    )
    marketplace.grant(only, posting.worker.identity.person)  # type: ignore[union-attr]
    requirement: dict[str, Any] = {
        **marketplace.required(only),
        "ActionsGuarded": "DiscoverPreviewAndAccept",
    }
    type_id = marketplace.create_hit_type(
        title=f"Collect what you are owed: {collection.title}",
        description="There is nothing to do: accept, press the button, and you are paid.",
        keywords=f"compensation, {requester_keyword(collection)}",
        reward=amount_of(posting.reward_cents, parameters.pay.minor_units),
        duration=timedelta(minutes=30),
        auto_approval=timedelta(days=1),
        requirements=[requirement],
    )
    return marketplace.create_hit(
        type_id,
        token=str(posting.token),
        lifetime=posting.expires_at - now,
        page=page_of(collection),
    )
