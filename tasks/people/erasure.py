"""Forgets a person: what names them goes; what was given stays, or is withdrawn."""

from datetime import datetime

from django.db import transaction

from collector.models import Stage
from common.actions import ActionError
from common.command_line import MANAGE
from tasks.models import (
    EmptySubmission,
    GivenName,
    GrantState,
    Identity,
    Lease,
    LeaseState,
    LockedAnswer,
    PartnerReport,
    Payment,
    PaymentState,
    ProblemReport,
    ReceiptState,
    Submission,
    Ticket,
    TicketState,
    Worker,
)
from tasks.money.performance_bonuses.accepted_examples import waits_to_count


def forget(worker: Worker, now: datetime, *, withdraw: bool) -> None:
    """Remove identity, given name, drafts, preferences, messages and what came without work.

    Payments keep the internal id. With `withdraw` the worker's questions and answers stay out of
    every later release; an issued release is never rewritten. Raises ActionError while the
    worker is at work, is owed money or can be soon, since nobody could be paid afterwards.
    """
    worked_in = Stage.objects.filter(units__leases__worker=worker)
    with transaction.atomic():
        # Bonuses are awarded under a stage's lock: none is awarded between the checks and the end.
        stages = list(
            Stage.objects.filter(pk__in=worked_in.values("pk"))
            .select_related("collection")
            .order_by("pk")
            .select_for_update(of=("self",), no_key=True)
        )
        Worker.objects.select_for_update().get(pk=worker.pk)
        leases = Lease.objects.filter(worker=worker)
        if leases.filter(state=LeaseState.LIVE).exists():
            raise ActionError("This person is at work on a HIT: wait until it is handed in.")
        decided = [ReceiptState.APPROVED, ReceiptState.REJECTED]
        if (
            Payment.objects.filter(
                worker=worker, state__in=[PaymentState.DUE, PaymentState.REFUSED]
            ).exists()
            or Submission.objects.filter(lease__worker=worker).exclude(state__in=decided).exists()
            or EmptySubmission.objects.filter(session__worker=worker)
            .exclude(state__in=decided)
            .exists()
            or Ticket.objects.filter(worker=worker).exclude(state=TicketState.DONE).exists()
        ):
            raise ActionError(
                "This person is still owed money. Pay what waits on the page Work and pay, under "
                "Money, or wait until it is paid by itself. Then try again "
                f"({MANAGE} collect NAME confirms payments at once)."
            )
        if waiting := next((stage for stage in stages if waits_to_count(stage, worker)), None):
            raise ActionError(
                f"Work of this person is not counted for the bonuses of {waiting.name!r} in "
                f"{waiting.collection.slug!r} yet. Try again when the hours of "
                f"{waiting.name}.bonuses.wait_hours are over."
            )
        unpaid = leases.filter(
            state=LeaseState.EXPIRED, draft__isnull=False, compensated=False, submission=None
        )
        if unpaid.exists():
            raise ActionError(
                "Work this person saved before their time ran out is not paid yet: raise the "
                f"budget or wait for the next round ({MANAGE} collect NAME)."
            )
        worker.grants.filter(state=GrantState.SUBMITTED).delete()
        ProblemReport.objects.filter(lease__worker=worker).delete()
        PartnerReport.objects.filter(reporter=worker).update(note="")
        leases.update(draft=None)
        LockedAnswer.objects.filter(worker=worker).delete()
        Identity.objects.filter(worker=worker).delete()
        GivenName.objects.filter(worker=worker).delete()
        EmptySubmission.objects.filter(session__worker=worker).update(fields={})
        worker.sessions.update(person=worker.pk, submit_url="")
        worker.preferences = {}
        worker.withdrawn_at = now if withdraw else worker.withdrawn_at
        worker.save(update_fields=["preferences", "withdrawn_at"])
