"""Answers what workers report about a HIT: they read it, and are paid for the trouble."""

from collections.abc import Iterable
from datetime import datetime
from uuid import NAMESPACE_URL, uuid5

from django.db import transaction

from collector.models import Collection
from collector.protocols.creation import parameters_of
from common.actions import ActionError
from tasks.crowd import marketplace
from tasks.models import Lease, LeaseState, Payment, ProblemReport, Submission
from tasks.money import bonuses
from tasks.money.compensation import compensate
from tasks.people import worker_messages
from tasks.posting.hits import money

MOST_WORDS = 2000
PAID_FOR = "For the problem you reported."
AT_WORK = "They are still at work on it: answer without an amount, or pay once it is handed in."
PAID_BEFORE = "This work was compensated already: answer without an amount."


def answer(report: ProblemReport, words: str, cents: int, by: str, now: datetime) -> None:
    """Record what the worker is told, owe them `cents` for their trouble, and resolve the report.

    Work that was handed in is paid a bonus, other work by a HIT of the worker's own, up to its
    reward. Raises ActionError, and nothing is done.
    """
    words = words.strip()
    if not words or len(words) > MOST_WORDS:
        raise ActionError(f"Write the worker an answer, in at most {MOST_WORDS:,} characters.")
    with transaction.atomic():
        open_yet = ProblemReport.objects.filter(pk=report.pk, answered_at=None)
        answered = open_yet.update(answer=words, answered_by=by, answered_at=now, resolved_at=now)
        if not answered:
            raise ActionError("It is answered already: this page shows how.")
        if cents:
            payment = _pay(report, cents, by, now)
            ProblemReport.objects.filter(pk=report.pk).update(payment=payment)


def resolve(report: ProblemReport, at: datetime | None) -> None:
    """Mark a report as resolved `at` a time, or as open again by None."""
    ProblemReport.objects.filter(pk=report.pk).update(resolved_at=at)


def _pay(report: ProblemReport, cents: int, by: str, now: datetime) -> Payment:
    lease = Lease.objects.select_related("unit__stage__collection").get(pk=report.lease_id)
    submission = Submission.objects.filter(lease=lease).first()
    if submission:
        once = uuid5(NAMESPACE_URL, f"report:{report.pk}")
        return bonuses.give(submission, cents, PAID_FOR, by, once, now)
    if why := unpayable([lease]).get(lease.pk):
        raise ActionError(why)
    reward = lease.session.posting.reward_cents
    if cents > reward:
        minor_units = parameters_of(lease.unit.stage.collection).pay.minor_units
        most = money(reward, minor_units)
        raise ActionError(f"Nothing was handed in: pay at most the HIT's reward, {most}.")
    payment = compensate(lease, cents, PAID_FOR, now)
    if payment is None:
        raise ActionError("The budget cannot hold it: raise the budget, then pay.")
    return payment


def unpayable(leases: Iterable[Lease]) -> dict[int, str]:
    """Return why reports about these leases can be answered with no money now, where so, by id."""
    unfinished = {lease.pk: lease for lease in leases}
    for pk in Submission.objects.filter(lease__in=unfinished).values_list("lease", flat=True):
        del unfinished[pk]
    keys = {f"compensation:{row.unit_id}:{row.worker_id}": pk for pk, row in unfinished.items()}
    paid = Payment.objects.filter(key__in=keys).values_list("key", flat=True)
    found = dict.fromkeys((keys[key] for key in paid), PAID_BEFORE)
    live = (pk for pk, lease in unfinished.items() if lease.state == LeaseState.LIVE)
    return found | dict.fromkeys(live, AT_WORK)


def tell_reporters(collection: Collection, now: datetime) -> int:
    """Pass on the answers that can reach somebody who was not told of them yet; returns how many.

    Twice is possible where the reply was lost, never is not. Raises MarketplaceError.
    """
    untold = ProblemReport.objects.filter(
        lease__unit__stage__collection=collection, answered_at__isnull=False, told_at=None
    ).select_related("lease__worker__identity")

    def tell(report: ProblemReport) -> int:
        if not worker_messages.send(
            report.lease.worker,
            subject=f"Your report about a HIT: {collection.title}",
            text=f"{report.answer}\n\nYou wrote:\n{report.message}",
        ):
            return 0
        return ProblemReport.objects.filter(pk=report.pk, told_at=None).update(told_at=now)

    return marketplace.one_by_one(worker_messages.with_reachable(untold, "lease__worker"), tell)
