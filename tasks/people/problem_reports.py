"""Answers what workers report about a HIT: they read it, and are paid for the trouble."""

from datetime import datetime
from uuid import NAMESPACE_URL, uuid5

from django.db import transaction

from collector.models import Collection
from common.actions import ActionError
from tasks.crowd import marketplace
from tasks.ledger import payments
from tasks.models import ProblemReport
from tasks.people import worker_messages

MOST_WORDS = 2000
PAID_FOR = "For the problem you reported."


def answer(report: ProblemReport, words: str, cents: int, by: str, now: datetime) -> None:
    """Record what the worker is told, give them `cents` for their trouble, and resolve the report.

    It is a gift beside whatever is paid for the work: a bonus, which goes by a HIT of the worker's
    own where nothing is handed in. Raises ActionError, and nothing is done.
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
            once = uuid5(NAMESPACE_URL, f"report:{report.pk}")
            payment = payments.give_bonus(report.lease, cents, PAID_FOR, by, once, now)
            ProblemReport.objects.filter(pk=report.pk).update(payment=payment)


def resolve(report: ProblemReport, at: datetime | None) -> None:
    """Mark a report as resolved `at` a time, or as open again by None."""
    ProblemReport.objects.filter(pk=report.pk).update(resolved_at=at)


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
