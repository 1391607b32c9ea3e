"""What partners say of each other: read and decided by a person, told to whom it concerns."""

from datetime import datetime

from django.db import transaction

from collector.models import Collection
from collector.protocols.creation import parameters_of
from common.actions import ActionError
from tasks.crowd import marketplace
from tasks.models import Grant, GrantState, PartnerReport, ReportDecision
from tasks.people import qualifications, worker_messages


def decide(
    report: PartnerReport, decision: ReportDecision, words: str, by: str, now: datetime
) -> None:
    """Record what a person has made of a report; it may be decided again, but for a warning told.

    With `withdraw` the reported worker loses the qualification of the role they had in the dialog.
    What they have earned stays theirs. Raises ActionError without words for the worker.
    """
    if decision != ReportDecision.NOTHING and not words.strip():
        raise ActionError("Say in a sentence what was wrong: the worker is told.")
    with transaction.atomic():
        PartnerReport.objects.filter(pk=report.pk).update(
            decision=decision, words=words.strip(), decided_by=by, decided_at=now
        )
        if decision == ReportDecision.WITHDRAW:
            _withdraw(report, words.strip(), by, now)


def _withdraw(report: PartnerReport, words: str, by: str, now: datetime) -> None:
    stage = report.dialog.stage
    table = parameters_of(stage.collection).stages()[stage.name]
    role = "student" if report.reported_id == report.dialog.student_id else "teacher"
    grants = Grant.objects.filter(
        worker_id=report.reported_id,
        state=GrantState.GRANTED,
        qualification__stage__collection=stage.collection,
        qualification__stage__name=getattr(table, f"requires_{role}"),
    )
    for grant in grants:
        qualifications.decide(grant, granted=False, note=words, by=by, now=now)


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
        if not worker_messages.send(
            report.reported,
            subject=f"About a dialog of yours: {collection.title}",
            text=report.words,
        ):
            return 0
        return PartnerReport.objects.filter(pk=report.pk, told_at=None).update(told_at=now)

    return marketplace.one_by_one(worker_messages.with_reachable(untold, "reported"), tell)
