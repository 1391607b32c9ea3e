"""Sends bonuses, or pays them by a HIT of the worker's own, and enters those paid elsewhere."""

from collections import Counter
from datetime import datetime, timedelta
from uuid import NAMESPACE_URL, uuid5

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from collector.models import Collection
from collector.protocols.creation import parameters_of
from common.money import amount_of
from common.wrong_clocks import over
from tasks.crowd import marketplace
from tasks.crowd.requester_api import MarketplaceError
from tasks.hits import TOKEN_HOLDS
from tasks.ledger import budget
from tasks.ledger.payments import advance
from tasks.models import (
    ON_MARKETPLACE,
    Lease,
    LeaseState,
    Payment,
    PaymentKind,
    PaymentState,
    Posting,
    PostingState,
    ReceiptState,
    Session,
    Ticket,
    TicketState,
)
from tasks.paying.compensation import open_posting
from tasks.paying.reconcile import LONGEST_REFUSAL
from tasks.people.entry import Entry, open_session
from tasks.work.leases import LATE_WORK

# A HIT is asked about an hour after it was put up, and then ever more rarely as it grows old.
SOONEST, RAREST = timedelta(hours=1), timedelta(days=30)
OF_ITS_AGE = 24
MOST_IN_A_ROUND = 50
LONGEST_REASON = 500
NEVER_HANDED_IN = [PostingState.PUBLISHING, PostingState.LIVE]


def send_due(collection: Collection, now: datetime) -> int:
    """Send every bonus that is due for an assignment the marketplace lists; returns how many.

    What becomes of the assignment changes nothing: it was earned apart from the reward. One that
    the marketplace refuses is set aside with its words. Safe to run twice and at once. Raises
    MarketplaceError; what was sent before stays.
    """
    listed = Q(lease__submission__isnull=False) & ~Q(lease__submission__state=ReceiptState.HELD)
    due = _due(collection).filter(listed, state=PaymentState.DUE).exclude(_paid_apart())
    return marketplace.one_by_one(
        due.select_related("collection", "lease__session").order_by("id"),
        lambda payment: _send_or_set_aside(payment, now),
    )


def _send_or_set_aside(payment: Payment, now: datetime) -> int:
    try:
        return _send(payment, now)
    except MarketplaceError as error:
        # Without a code it was not the marketplace that refused.
        if error.permanent and error.code:
            refusal = str(error)[:LONGEST_REFUSAL]
            advance(Payment.objects.filter(pk=payment.pk), PaymentState.REFUSED, refusal=refusal)
        raise


def _send(payment: Payment, now: datetime) -> int:
    assert payment.lease is not None
    stay, collection = payment.lease.session, payment.collection
    minor_units = parameters_of(collection).pay.minor_units
    # The marketplace forgets a token after a day; then it is asked what it has sent.
    old = payment.created_at < now - TOKEN_HOLDS
    if not old or not _was_sent(payment, minor_units):
        marketplace.send_bonus(
            stay.person,
            stay.session_id,
            amount=amount_of(payment.amount_cents, minor_units),
            reason=payment.reason,
            token=str(uuid5(NAMESPACE_URL, f"{collection.pseudonym_key}/{payment.key}")),
        )
    return advance(Payment.objects.filter(pk=payment.pk), PaymentState.CONFIRMED, confirmed_at=now)


def _was_sent(payment: Payment, minor_units: int) -> bool:
    """Return whether the marketplace lists one more bonus like this than the ledger confirms."""
    assert payment.lease is not None
    stay = payment.lease.session
    same = Session.objects.filter(
        provider=stay.provider, environment=stay.environment, session_id=stay.session_id
    )
    # An account that was merged into another is listed by that one's id. Only where the assignment
    # was somebody else's before does the id tell whose bonus it is.
    others = set(same.exclude(worker=stay.worker_id).values_list("person", flat=True))
    like_it = [
        row
        for row in marketplace.listed_bonuses(AssignmentId=stay.session_id)
        if row.person not in others
        and row.cents(minor_units) == payment.amount_cents
        and row.reason in (payment.reason, "")
    ]
    confirmed = Payment.objects.filter(
        lease__session__in=same.filter(worker=stay.worker_id),
        kind=PaymentKind.BONUS,
        state=PaymentState.CONFIRMED,
        amount_cents=payment.amount_cents,
        reason=payment.reason,
    )
    return len(like_it) > confirmed.count()


def reroute_unsendable(collection: Collection, now: datetime) -> int:
    """Give what no assignment can carry a HIT of the worker's own; returns how many HITs.

    A bonus belongs to an assignment that was handed in: this one was returned, ran out of time,
    or its receipt was lost.
    """
    late = Q(lease__session__signed_until__lt=now) | Q(
        lease__session__signed_until__isnull=True, lease__expires_at__lt=now - LATE_WORK
    )
    never = Q(lease__submission__isnull=True) & (
        Q(lease__state=LeaseState.RETURNED) | Q(lease__state=LeaseState.EXPIRED) & late
    )
    lost = _due(collection).filter(never | _paid_apart())
    # All that a stay has earned goes into one HIT: it is over first.
    at_it = Ticket.objects.filter(lease=OuterRef("lease")).exclude(state=TicketState.DONE)
    lost = lost.exclude(Exists(at_it))
    return sum(_reroute(lease, now) for lease in {row.lease_id for row in lost} if lease)


def _reroute(lease_id: int, now: datetime) -> int:
    lease = Lease.objects.select_related("unit__stage__collection").get(pk=lease_id)
    with transaction.atomic():
        due = list(
            _due(lease.unit.stage.collection)
            .filter(lease=lease)
            .order_by("id")
            .select_for_update(of=("self",))
        )
        if not due:
            return 0
        cents = sum(payment.amount_cents for payment in due)
        posting = open_posting(lease, cents, f"bonuses:{due[0].key}", now)
        rows = Payment.objects.filter(pk__in=[payment.pk for payment in due])
        rows.update(posting=posting)
        advance(rows, PaymentState.DUE)
    return 1


def _due(collection: Collection) -> "QuerySet[Payment]":
    """Return the bonuses that are owed, refused or not, and have no HIT of the worker's own."""
    return Payment.objects.filter(
        collection=collection,
        kind=PaymentKind.BONUS,
        state__in=[PaymentState.DUE, PaymentState.REFUSED],
        posting__worker__isnull=True,
    )


def _paid_apart() -> Exists:
    """Tell bonuses whose assignment's reward is paid by a HIT of the worker's own."""
    rewards = Payment.objects.filter(
        submission__lease=OuterRef("lease"), posting__worker=F("worker")
    )
    return Exists(rewards)


def ask_anew(collection: Collection, now: datetime) -> int:
    """Let the next rounds ask about every HIT of the collection; returns how many there are."""
    return _handed_in(collection).update(ask_bonuses_at=now)


def find_elsewhere(
    collection: Collection, now: datetime, most: int | None = MOST_IN_A_ROUND
) -> int:
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
        sent = list(marketplace.listed_bonuses(HITId=posting.external_id))
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
    posting: Posting, sent: list[marketplace.ListedBonus]
) -> list[tuple[marketplace.ListedBonus, str]]:
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
    twins: Counter[marketplace.ListedBonus] = Counter()
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


def _enter(posting: Posting, row: marketplace.ListedBonus, key: str, now: datetime) -> bool:
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


def _stay(posting: Posting, row: marketplace.ListedBonus, now: datetime) -> Session:
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
