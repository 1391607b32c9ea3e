"""Forgets a person: what names them goes; what was given stays, or is withdrawn."""

from datetime import datetime

from django.db import DEFAULT_DB_ALIAS, transaction
from django.db.models import F, Q

from collector.models import Stage
from common.actions import ActionError
from common.command_line import MANAGE
from common.erasure import Rows, erase_rows
from tasks.ledger.payments import let_go
from tasks.ledger.performance_bonuses import waits_to_count
from tasks.models import (
    EmptySubmission,
    GrantState,
    Lease,
    LeaseState,
    Payment,
    PaymentKind,
    PaymentState,
    Posting,
    PostingState,
    ReceiptState,
    Session,
    Submission,
    Ticket,
    TicketState,
    Worker,
)

WORK = "handed in: the next release has it, or leaves it out where it is withdrawn"
RANDOM = "random: it leads to nobody"
ERASING = (
    *(
        Rows(f"tasks.{model}", "worker", None)
        for model in ("Identity", "GivenName", "LockedAnswer")
    ),
    Rows("tasks.ProblemReport", "lease__worker", None),
    Rows("tasks.Grant", "worker", None, only=Q(state=GrantState.SUBMITTED)),
    Rows("tasks.Grant", "worker", {"note": ""}),
    Rows("tasks.PartnerReport", "reporter", {"note": ""}),
    Rows("tasks.PartnerReport", "reported", {"note": "", "words": ""}),
    Rows("tasks.Lease", "worker", {"draft": None}),
    Rows("tasks.Submission", "lease__worker", {"refusal": ""}, stays={"raw": WORK}),
    Rows("tasks.EmptySubmission", "session__worker", {"fields": {}, "refusal": ""}),
    Rows("tasks.Payment", "worker", {"reason": "", "refusal": ""}),
    Rows("tasks.RejectionStep", "rejection__session__worker", {"why": ""}),
    Rows("tasks.Rejection", "session__worker", {"reason": "–"}),
    Rows(
        "tasks.Session",
        "worker",
        {"person": F("worker_id"), "submit_url": ""},
        stays={"session_id": RANDOM},
    ),
    Rows("tasks.Question", "worker", stays={"text": WORK, "payload": WORK}),
    Rows("tasks.Answer", "worker", stays={"payload": WORK}),
    Rows("tasks.Skip", "worker", stays={"reason": WORK}),
    Rows("tasks.Turn", "dialog__student", stays={"question": WORK}),
    Rows("annotation.Exclusion", "worker", {"why": "–"}),
    Rows("annotation.Exclusion", "worker", {"back_why": "–"}, only=Q(back_at__isnull=False)),
    Rows(
        "annotation.Override",
        "verdict__question__worker",
        stays={"note": "why a requester decided about a question, whoever wrote it"},
    ),
    Rows("tasks.Worker", "pk", {"preferences": {}}, stays={"id": RANDOM}),
)


def forget(worker: Worker, now: datetime, *, withdraw: bool, waive: bool = False) -> None:
    """Do what ERASING says; payments keep the internal id.

    With `withdraw` the worker's questions and answers stay out of every later release; an issued
    release is never rewritten. With `waive` the budget has back what the marketplace refused to
    pay. Raises ActionError while the worker is at work, is owed money or can be soon, since nobody
    could be paid afterwards.
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
        if waive:
            _let_go(worker)
        # What was refused is owed as long as its payment is due.
        decided = [ReceiptState.APPROVED, ReceiptState.REJECTED, ReceiptState.REFUSED]
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
                f"({MANAGE} collect NAME confirms payments at once). What the marketplace refuses "
                "to pay and they do without is let go by --waive."
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
        erase_rows(ERASING, [worker.pk], DEFAULT_DB_ALIAS)
        # What a requester wrote to them on another marketplace came with their work.
        for work in Submission.objects.filter(lease__worker=worker, raw__has_key="archive"):
            work.raw["archive"]["feedback"] = ""
            work.save(update_fields=["raw"])
        if withdraw:
            Worker.objects.filter(pk=worker.pk).update(withdrawn_at=now)


def _let_go(worker: Worker) -> None:
    """Owe nothing any more that only an open account could be paid; the budget has it back.

    That is what the marketplace refused, and what hangs on HITs of the worker's own.
    """
    refused = Session.objects.filter(
        Q(leases__submission__state=ReceiptState.REFUSED)
        | Q(empty_submission__state=ReceiptState.REFUSED),
        worker=worker,
    )
    rewards = Q(kind=PaymentKind.REWARD, posting__in=refused.values("posting"))
    let_go(
        Payment.objects.filter(
            Q(state=PaymentState.REFUSED)
            | Q(state=PaymentState.DUE) & (rewards | Q(posting__worker=worker)),
            worker=worker,
        )
    )
    Posting.objects.filter(
        worker=worker, state__in=[PostingState.PUBLISHING, PostingState.LIVE]
    ).update(state=PostingState.EXPIRED)
