"""What a card tells of rejections, bonuses and workers left out, entered again as it was."""

from datetime import datetime

from django.db import transaction

from annotation.decisions.exclusions import leave_out
from annotation.release.assignment_log import units_of
from annotation.replay.log import AssignmentLine, Log
from collector.models import Collection
from tasks.models import Payment, PaymentKind, PaymentState, ReceiptState, Submission, Worker
from tasks.money import budget, payments


def settle_again(collection: Collection, log: Log, now: datetime) -> None:
    """Reject, reward and leave out as people did; the marketplace of a replay is not told."""
    units = {name: pk for pk, name, _ in units_of(collection)}
    for one in log.assignments:
        if one.rejected or one.bonus_cents:
            work = Submission.objects.filter(lease__unit=units[one.unit], lease__worker=one.worker)
            _settle(collection, work.latest("pk"), one, now)
    for line in log.exclusions:
        leave_out(collection, Worker.objects.get(pk=line.worker), line.why, line.by, now)


def _settle(collection: Collection, work: Submission, one: AssignmentLine, now: datetime) -> None:
    with transaction.atomic():
        if one.rejected:
            Submission.objects.filter(pk=work.pk).update(state=ReceiptState.REJECTED)
            payments.withhold(work, now)
        if one.bonus_cents:
            Payment.objects.create(
                collection=collection,
                stage=work.lease.unit.stage,
                worker=work.lease.worker,
                lease=work.lease,
                posting=work.lease.session.posting,
                kind=PaymentKind.BONUS,
                amount_cents=one.bonus_cents,
                key=f"replayed:{work.pk}",
                by="the log",
                state=PaymentState.CONFIRMED,
                created_at=now,
                confirmed_at=now,
            )
            payments.hold_anyway(collection.pk, one.bonus_cents, "a replayed bonus", now)
            budget.earn(collection.pk, reserved_cents=one.bonus_cents, cost_cents=one.bonus_cents)
