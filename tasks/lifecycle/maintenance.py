"""One round of everything a collection needs: each step finds its work in rows."""

import logging
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from time import monotonic

from django.db.models import Q

from collector.models import Collection, Stage
from collector.models.collection import LONGEST_CLAIM
from collector.protocols.creation import parameters_of
from common.long_work import renewed
from common.wrong_clocks import CLOCK, expired, pull_back
from tasks import costs, hits
from tasks.crowd import marketplace
from tasks.crowd.requester_api import MarketplaceError
from tasks.ledger import lease_reserves, performance_bonuses
from tasks.models import (
    Lease,
    LeaseState,
    ReceiptState,
    Rejection,
    RejectionState,
    Submission,
    Ticket,
    TicketState,
)
from tasks.paying import bonuses, compensation, empty_submissions, reconcile, rejections
from tasks.people import eligibility, qualifications, reports
from tasks.work import leases, units

log = logging.getLogger(__name__)
# A process that died, or whose database went away, amid a round blocks nobody for longer: another
# one is there about as soon.
CLAIM = timedelta(seconds=2.5)
# What a round says of the steps that could not be done.
FAILED = "steps failed"
# A round that is at work says so this often.
RENEW_SECONDS = 0.5
# How many of each stage's HITs go up before anybody is paid, the others after it: when an outage
# is over there are many of both, and each takes its time.
FIRST_HITS = 10
# What is taken between two other steps too: who is owed something waits for a few others at most.
PAY = ("bonuses sent", "submissions approved")
# What time alone ends, pays or mends waits where the clock has just jumped: it may jump back.
BY_THE_CLOCK = frozenset(
    (
        *("times mended", "leases expired", "unfinished work paid", "postings expired"),
        *("submissions confirmed", "rejections lapsed", "submissions approved", "bonuses awarded"),
        *("lost receipts", "bonuses rerouted", "compensations reopened"),
    )
)
EVERY_SECONDS = 3600
# When this process looked at a collection last.
_looked: dict[int, float] = {}


def maintain_alone(collection: Collection, now: datetime) -> dict[str, int]:
    """Tend the collection unless somebody else is at it; then nothing is done and {} returned."""
    claim = Claim(collection, now)
    if not claim.take():
        return {}
    try:
        with claim.kept():
            return maintain(collection, now)
    finally:
        claim.give_up()


class Claim:
    """One round's hold on a collection. Two rounds at once do no harm, only work for nothing."""

    def __init__(self, collection: Collection, now: datetime) -> None:
        self._rows = Collection.objects.filter(pk=collection.pk)
        self._now = now
        self._began = monotonic()
        self._until = now

    def take(self) -> bool:
        """Return whether nobody else held it; then it is ours."""
        free = Q(maintained_until__isnull=True)
        free |= expired("maintained_until", self._now, self._now + 2 * LONGEST_CLAIM)
        return self._move(free, self._time())

    def kept(self) -> AbstractContextManager[None]:
        """Renew it now and then while the block lasts, however long one of its steps may be."""
        return renewed(self.renew, RENEW_SECONDS)

    def renew(self) -> None:
        """Hold it for longer, unless it ran out and somebody else has it now."""
        self._move(Q(maintained_until=self._until), self._time())

    def give_up(self) -> None:
        """Let the next round have it."""
        self._rows.filter(maintained_until=self._until).update(maintained_until=None)

    def _time(self) -> datetime:
        return self._now + timedelta(seconds=monotonic() - self._began)

    def _move(self, condition: Q, time: datetime) -> bool:
        if not self._rows.filter(condition).update(maintained_until=time + CLAIM):
            return False
        self._until = time + CLAIM
        return True


def maintain(collection: Collection, now: datetime) -> dict[str, int]:
    """Run every step once and return what each did; a step that fails leaves the others alone.

    A marketplace that does not answer, and a step that fails, are logged, counted as FAILED, and
    met again in the next round.
    """
    done: dict[str, int] = {}
    stages = list(collection.stages.select_related("collection"))

    def run(names: Iterable[str]) -> None:
        for name in names:
            if name in BY_THE_CLOCK and CLOCK.has_jumped():
                continue
            try:
                done[name] = done.get(name, 0) + steps[name]()
            except MarketplaceError as error:
                log.warning("%s: %s: %s", collection.slug, name, error)
                done[FAILED] = done.get(FAILED, 0) + 1
            except Exception:
                # Nobody's pay may hang on one row that a step cannot digest.
                log.exception("%s: %s failed", collection.slug, name)
                done[FAILED] = done.get(FAILED, 0) + 1

    steps = _steps(collection, stages, now, lambda: run(PAY))
    run(steps)
    return done


def _steps(
    collection: Collection, stages: list[Stage], now: datetime, pay: Callable[[], None]
) -> dict[str, Callable[[], int]]:
    """Return the steps in their order; `pay` takes those of PAY between two others."""
    parameters = parameters_of(collection)
    open_stages = [stage for stage in stages if hits.is_open(stage)]
    publish_first, publish_further = _publishing(open_stages, now)
    return {
        "times mended": lambda: mend_now_and_then(collection, now),
        "maximum said": lambda: costs.keep_maximum(collection, now),
        "HITs returned": lambda: reconcile.find_returned(collection, now),
        "leases expired": lambda: leases.expire_overdue(now),
        "unfinished work paid": lambda: pay_unfinished(collection, now),
        "money let go": lambda: lease_reserves.release_ended(collection),
        "units dropped": lambda: units.drop_left_out(collection, parameters),
        "units made": lambda: sum(units.bundle(stage, parameters) for stage in open_stages),
        "decisions told": lambda: marketplace.one_by_one(
            qualifications.stages_to_tell_of(stages), qualifications.tell_marketplace
        ),
        "eligibility known": lambda: eligibility.update_eligibility(collection, open_stages),
        "eligibility told": lambda: eligibility.tell_marketplace(collection),
        # People wait for HITs; what is asked about those of before takes its time.
        "postings expired": lambda: reconcile.expire_postings(collection, now),
        "plans let go": lambda: marketplace.one_by_one(stages, hits.withdraw_planned),
        "HITs closed": lambda: marketplace.one_by_one(
            hits.with_surplus(stages), hits.close_surplus
        ),
        "assignments planned": lambda: sum(
            hits.plan_postings(stage, now) for stage in hits.with_room(open_stages)
        ),
        "HITs published": publish_first,
        "warnings told": lambda: reports.tell_warned(collection, now),
        "reports answered": lambda: reports.tell_reporters(collection, now),
        "submissions confirmed": lambda: reconcile.confirm_submissions(collection, now, pay),
        "rejections lapsed": lambda: rejections.lapse(collection, now),
        "rejections carried out": lambda: rejections.carry_out(collection, now),
        "rejections taken back": lambda: rejections.restore(collection, now),
        "rejections approved": lambda: rejections.find_approved(collection, now),
        "decided without us": lambda: empty_submissions.find_decided(collection, now),
        # Before its HIT is done with and deleted.
        "bonuses sent": lambda: bonuses.send_due(collection, now),
        "bonuses paid elsewhere": lambda: bonuses.find_elsewhere(collection, now),
        "submissions approved": lambda: reconcile.approve_confirmed(collection, now),
        "further HITs published": publish_further,
        "bonuses awarded": lambda: sum(
            performance_bonuses.award_bonuses(stage, now) for stage in stages
        ),
        "lost receipts": lambda: reconcile.reroute_lost(collection, now),
        "bonuses rerouted": lambda: bonuses.reroute_unsendable(collection, now),
        "compensations reopened": lambda: compensation.reopen_lapsed(collection, now),
        "compensations published": lambda: compensation.publish_pending(collection, now),
    }


def _publishing(stages: list[Stage], now: datetime) -> tuple[Callable[[], int], Callable[[], int]]:
    """Return the steps that put up the first HITs of each stage, and all others after them."""
    with_more: list[Stage] = []

    def first_of(stage: Stage) -> int:
        published = hits.publish_pending(stage, now, FIRST_HITS)
        if published == FIRST_HITS:
            with_more.append(stage)
        return published

    def first() -> int:
        return marketplace.one_by_one(hits.with_plans(stages), first_of)

    def further() -> int:
        return marketplace.one_by_one(with_more, lambda stage: hits.publish_pending(stage, now))

    return first, further


def pay_unfinished(collection: Collection, now: datetime) -> int:
    """Owe what was saved in leases that ran out of time and were never taken up again."""
    # Late work is taken for an hour after the marketplace's deadline: that comes first.
    unpaid = lease_reserves.unpaid_leases(collection).filter(session__signed_until__lt=now)
    leased = unpaid.select_related("unit__stage__collection", "session__posting")
    return sum(compensation.owe_for_unfinished(lease, now) for lease in leased)


def mend_now_and_then(collection: Collection, now: datetime) -> int:
    """Mend the collection's times, unless this process has within the hour."""
    since, at = _looked.get(collection.pk, float("-inf")), monotonic()
    if at - since < EVERY_SECONDS:
        return 0
    _looked[collection.pk] = at
    return mend_times(collection, now)


def mend_times(collection: Collection, now: datetime) -> int:
    """Have what would begin later begin now, so that it ends, or is paid, in its own time.

    Returns how many times were mended.
    """
    leases = Lease.objects.filter(unit__stage__collection=collection, state=LeaseState.LIVE)
    work = Submission.objects.filter(
        lease__unit__stage__collection=collection,
        state__in=[ReceiptState.HELD, ReceiptState.CONFIRMED],
    )
    rejections = Rejection.objects.filter(session__posting__stage__collection=collection)
    proposed = rejections.filter(state=RejectionState.PROPOSED)
    tickets = Ticket.objects.filter(stage__collection=collection).exclude(state=TicketState.DONE)
    return (
        pull_back(leases, "draft_saved_at", now)
        + pull_back(leases, "taken_at", now, "expires_at")
        + pull_back(work, "received_at", now)
        + pull_back(work, "confirmed_at", now)
        + pull_back(proposed, "proposed_at", now, "alone_from", "holds_until")
        + pull_back(rejections.filter(state=RejectionState.REJECTED), "asked_at", now)
        + pull_back(tickets, "seen_at", now)
        + pull_back(tickets, "waiting_since", now)
    )
