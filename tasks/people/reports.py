"""What workers report, of a HIT or of their partner: a person decides, and they are told."""

from datetime import datetime
from typing import TypeVar
from uuid import NAMESPACE_URL, uuid5

from django.db import transaction
from django.db.models import Exists, Model, OuterRef, QuerySet

from collector.models import Collection
from collector.protocols.creation import parameters_of
from common.actions import ActionError
from tasks.crowd import marketplace
from tasks.ledger import payments
from tasks.models import (
    Grant,
    GrantState,
    PartnerReport,
    ProblemReport,
    ReceiptState,
    ReportDecision,
    Submission,
    Worker,
)
from tasks.people import qualifications

Row = TypeVar("Row", bound=Model)
DECIDED = (ReceiptState.APPROVED, ReceiptState.REJECTED)
MOST_WORDS = 2000
PAID_FOR = "For the problem you reported."


def with_reachable(rows: QuerySet[Row], worker: str) -> QuerySet[Row]:
    """Return the rows whose worker, at `worker`, a letter can reach: the others wait for theirs."""
    decided = Submission.objects.filter(lease__worker=OuterRef(worker), state__in=DECIDED)
    return rows.filter(Exists(decided), **{f"{worker}__identity__isnull": False})


def send_message(worker: Worker, *, subject: str, text: str) -> bool:
    """Send a message; return whether it got there. Raises MarketplaceError."""
    return marketplace.send_message(worker.identity.person, subject=subject, text=text)


def answer_problem(report: ProblemReport, words: str, cents: int, by: str, now: datetime) -> None:
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


def resolve_problem(report: ProblemReport, at: datetime | None) -> None:
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
        if not send_message(
            report.lease.worker,
            subject=f"Your report about a HIT: {collection.title}",
            text=f"{report.answer}\n\nYou wrote:\n{report.message}",
        ):
            return 0
        return ProblemReport.objects.filter(pk=report.pk, told_at=None).update(told_at=now)

    return marketplace.one_by_one(with_reachable(untold, "lease__worker"), tell)


def decide_about_partner(
    report: PartnerReport, decision: ReportDecision, words: str, by: str, now: datetime
) -> None:
    """Record what a person has made of a report; it may be decided again, but for a warning told.

    With `withdraw` the reported worker loses the qualification of the role they had in the dialog,
    as long as a report holds it; decided otherwise, they have it again. What they have earned stays
    theirs. Raises ActionError without words for the worker.
    """
    if decision != ReportDecision.NOTHING and not words.strip():
        raise ActionError("Say in a sentence what was wrong: the worker is told.")
    with transaction.atomic():
        held = _grants(report).select_for_update(of=("self",))
        rows = PartnerReport.objects.filter(reported=report.reported_id)
        withdrawn = rows.filter(decision=ReportDecision.WITHDRAW)
        # By a person's own decision since, it is no longer the report's to give back.
        times = withdrawn.values_list("decided_at", flat=True)
        taken = list(held.filter(state=GrantState.DECLINED, decided_at__in=list(times)))
        rows.filter(pk=report.pk).update(
            decision=decision, words=words.strip(), decided_by=by, decided_at=now
        )
        # Of several reports that withdraw the role, the last to be decided says why.
        others = [each for each in withdrawn.order_by("decided_at") if _role(each) == _role(report)]
        last = others[-1] if others else None
        if decision == ReportDecision.WITHDRAW:
            taken += held.filter(state=GrantState.GRANTED)
        for grant in taken:
            qualifications.decide(
                grant,
                granted=last is None,
                note=last.words if last else "",
                by=last.decided_by if last else by,
                now=(last.decided_at if last else None) or now,
                is_let_in=grant.is_let_in,
            )


def _role(report: PartnerReport) -> tuple[int, str]:
    """Return the stage of the dialog, and which qualification the reported worker had in it."""
    stage = report.dialog.stage
    table = parameters_of(stage.collection).stages()[stage.name]
    role = "student" if report.reported_id == report.dialog.student_id else "teacher"
    return stage.pk, getattr(table, f"requires_{role}")


def _grants(report: PartnerReport) -> QuerySet[Grant]:
    """Return what lets the reported worker take the role they had in the dialog."""
    return Grant.objects.filter(
        worker_id=report.reported_id,
        qualification__stage__collection=report.dialog.stage.collection_id,
        qualification__stage__name=_role(report)[1],
    )


def tell_warned(collection: Collection, now: datetime) -> int:
    """Pass on the warnings that can reach somebody who was not told yet; returns how many.

    Twice is possible where the reply was lost, never is not. Raises MarketplaceError.
    """
    untold = PartnerReport.objects.filter(
        dialog__stage__collection=collection,
        decision=ReportDecision.WARN,
        told_at=None,
    ).select_related("reported__identity")

    def tell(report: PartnerReport) -> int:
        if not send_message(
            report.reported,
            subject=f"About a dialog of yours: {collection.title}",
            text=report.words,
        ):
            return 0
        return PartnerReport.objects.filter(pk=report.pk, told_at=None).update(told_at=now)

    return marketplace.one_by_one(with_reachable(untold, "reported"), tell)
