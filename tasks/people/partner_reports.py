"""What partners say of each other: read and decided by a person, told to whom it concerns."""

from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

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
        if not worker_messages.send(
            report.reported,
            subject=f"About a dialog of yours: {collection.title}",
            text=report.words,
        ):
            return 0
        return PartnerReport.objects.filter(pk=report.pk, told_at=None).update(told_at=now)

    return marketplace.one_by_one(worker_messages.with_reachable(untold, "reported"), tell)
