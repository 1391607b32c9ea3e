"""Enters the bonuses that were paid on the marketplace with our account, but not by us."""

from collections import Counter
from datetime import datetime, timedelta
from uuid import NAMESPACE_URL, uuid5

from django.db import transaction
from django.db.models import F, Q, QuerySet

from collector.models import Collection
from collector.protocols.creation import parameters_of
from common.wrong_clocks import over
from tasks.crowd import bonuses, marketplace
from tasks.crowd.requester_api import MarketplaceError
from tasks.ledger import budget
from tasks.models import (
    ON_MARKETPLACE,
    Payment,
    PaymentKind,
    PaymentState,
    Posting,
    PostingState,
    Session,
)
from tasks.people.entry import Entry, open_session

# A HIT is asked about an hour after it was put up, and then ever more rarely as it grows old.
SOONEST, RAREST = timedelta(hours=1), timedelta(days=30)
OF_ITS_AGE = 24
MOST_IN_A_ROUND = 50
LONGEST_REASON = 500
NEVER_HANDED_IN = [PostingState.PUBLISHING, PostingState.LIVE]


def ask_anew(collection: Collection, now: datetime) -> int:
    """Let the next rounds ask about every HIT of the collection; returns how many there are."""
    return _handed_in(collection).update(ask_bonuses_at=now)


def find(collection: Collection, now: datetime, most: int | None = MOST_IN_A_ROUND) -> int:
    """Enter what was paid on HITs that are to be asked about; returns how many bonuses.

    most: HITs that are asked about now.
    Safe to run twice and at once. Raises MarketplaceError; what was entered before stays.
    """
    fresh = Q(ask_bonuses_at__isnull=True, created_at__lte=now - SOONEST)
    due = _handed_in(collection).filter(fresh | over("ask_bonuses_at", now, RAREST))
    due = due.order_by(F("ask_bonuses_at").asc(nulls_first=True), "pk")
    rows = due.select_related("stage__collection")[:most]
    return marketplace.one_by_one(rows, lambda posting: _ask(posting, now))


def _handed_in(collection: Collection) -> "QuerySet[Posting]":
    return Posting.objects.filter(
        stage__collection=collection,
        provider=marketplace.PROVIDER,
        environment=marketplace.environment(),
    ).exclude(Q(external_id="") | Q(state__in=NEVER_HANDED_IN))


def _ask(posting: Posting, now: datetime) -> int:
    again = now + min(RAREST, max(SOONEST, (now - posting.created_at) / OF_ITS_AGE))
    try:
        sent = list(bonuses.listed(HITId=posting.external_id))
    except MarketplaceError as error:
        if error.permanent:
            # It knows the HIT no longer.
            Posting.objects.filter(pk=posting.pk).update(ask_bonuses_at=again)
        raise
    # The ledger is read after the list: what we send meanwhile is in the ledger first.
    found = sum(_enter(posting, row, key, now) for row, key in _unknown(posting, sent))
    Posting.objects.filter(pk=posting.pk).update(ask_bonuses_at=again)
    return found


def _unknown(
    posting: Posting, sent: list[bonuses.ListedBonus]
) -> list[tuple[bonuses.ListedBonus, str]]:
    """Return what the ledger does not know, each with the key it is entered under.

    What is due may have been sent though nobody heard: then it is the same bonus.
    """
    minor_units = parameters_of(posting.stage.collection).pay.minor_units
    rows = posting.payments.filter(
        kind=PaymentKind.BONUS, state__in=[PaymentState.DUE, PaymentState.CONFIRMED]
    )
    if posting.worker_id:
        # What a HIT of the worker's own pays is its reward there.
        rows = rows.filter(by=ON_MARKETPLACE)
    known = Counter(rows.values_list("amount_cents", "reason"))
    twins: Counter[bonuses.ListedBonus] = Counter()
    unknown = []
    # A reason that was erased, there or here, is like any other of the amount: those come last.
    for row in sorted(sent, key=lambda row: row.reason == ""):
        twins[row] += 1
        cents, reason = row.cents(minor_units), row.reason[:LONGEST_REASON]
        alike = [(cents, reason), (cents, "")]
        if not reason:
            alike += [each for each in known if each[0] == cents]
        if found := next((each for each in alike if known[each]), None):
            known[found] -= 1
            continue
        name = f"{row.assignment_id}/{row.sent_at.isoformat()}/{(cents, reason)}/{twins[row]}"
        unknown.append((row, f"elsewhere:{posting.token}:{uuid5(NAMESPACE_URL, name)}"))
    return unknown


def _enter(posting: Posting, row: bonuses.ListedBonus, key: str, now: datetime) -> bool:
    """Enter one bonus as paid; the budget follows, whatever its cap. False if it was entered."""
    collection = posting.stage.collection
    pay = parameters_of(collection).pay
    cents = row.cents(pay.minor_units)
    cost = cents + budget.fee_cents(cents, pay)
    stay = _stay(posting, row, now)
    with transaction.atomic():
        _, is_new = Payment.objects.get_or_create(
            key=key,
            defaults={
                "collection_id": collection.pk,
                "stage_id": posting.stage_id,
                "worker_id": stay.worker_id,
                "lease": stay.leases.filter(submission__isnull=False).first() or stay.leases.last(),
                "posting": posting,
                "kind": PaymentKind.BONUS,
                "amount_cents": cents,
                "fee_cents": cost - cents,
                "reason": row.reason[:LONGEST_REASON],
                "by": ON_MARKETPLACE,
                "state": PaymentState.CONFIRMED,
                "created_at": row.sent_at,
                "confirmed_at": now,
            },
        )
        if is_new:
            by = "a bonus paid on the marketplace"
            budget.hold_anyway(collection.pk, cost, by, now, beside=True)
            budget.earn(collection.pk, reserved_cents=cost, cost_cents=cost)
    return is_new


def _stay(posting: Posting, row: bonuses.ListedBonus, now: datetime) -> Session:
    """Return the stay that was paid for; a merged or erased person is listed by another id."""
    stays = posting.sessions.filter(session_id=row.assignment_id)
    handed_in = Q(leases__submission__isnull=False) | Q(empty_submission__isnull=False)
    known = stays.filter(person=row.person).first() or stays.filter(handed_in).last()
    if known:
        return known
    claimed = Entry(
        hit_id=posting.external_id,
        preview=False,
        assignment_id=row.assignment_id,
        person=row.person,
    )
    return open_session(claimed, posting, now)
