"""What a crash can leave in the rows of workers' side; mended by the functions that sweeps call."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Count, F, Q, QuerySet
from django.utils import timezone

from collector.models import Collection, CollectionState
from common.checkup import Check
from tasks.crowd import marketplace
from tasks.crowd.requester_api import MarketplaceError
from tasks.dialog import maintenance as dialog_maintenance
from tasks.dialog import moves, settlement, waiting_room
from tasks.ledger import budget
from tasks.lifecycle.maintenance import maintain_alone
from tasks.models import (
    Dialog,
    DialogState,
    EmptySubmission,
    Lease,
    LeaseState,
    Payment,
    PaymentState,
    Posting,
    PostingState,
    ReceiptState,
    Submission,
    Ticket,
    TicketState,
    Unit,
)
from tasks.paying import empty_submissions, reconcile
from tasks.paying.reconcile import LOST_AFTER
from tasks.work import leases
from tasks.work.dialog_rules import Ending

# Sweeps come every few seconds, and mend all this by themselves while they run.
LATE = timedelta(minutes=10)
# Of what is paid, the newest are compared with the marketplace: it is asked about each.
NEWEST_PAYMENTS = 100
# What is said of an assignment that nobody has handed in there.
UNKNOWN = "unknown"


def overdue_leases() -> list[str]:
    """Return the leases whose time was over long ago."""
    late = Lease.objects.filter(state=LeaseState.LIVE, expires_at__lt=timezone.now() - LATE)
    return [f"lease {lease.pk}, over since {lease.expires_at:%Y-%m-%d %H:%M}" for lease in late]


def end_overdue_leases() -> None:
    """End them, as each round does."""
    leases.expire_overdue(timezone.now())


def wrong_units() -> list[str]:
    """Return the units whose counters are not what their leases and submissions say."""
    return [
        f"unit {unit.pk}: taken {unit.taken}, {unit.n_live + unit.n_in} are; "
        f"submitted {unit.submitted}, {unit.n_in} are"
        for unit in _wrong_units()
    ]


def _wrong_units(units: "QuerySet[Unit] | None" = None) -> Sequence[Any]:
    live, counts = Q(leases__state=LeaseState.LIVE), Q(leases__submission__counts=True)
    rows = (
        (Unit.objects.all() if units is None else units)
        .order_by()
        .annotate(
            n_live=Count("leases", filter=live, distinct=True),
            n_in=Count("leases", filter=counts, distinct=True),
        )
    )
    return list(rows.exclude(taken=F("n_live") + F("n_in"), submitted=F("n_in")))


def recount_units() -> None:
    """Count anew, under the rows' locks."""
    for wrong in _wrong_units():
        with transaction.atomic():
            rows = Unit.objects.filter(pk=wrong.pk)
            list(rows.select_for_update())
            for unit in _wrong_units(rows):
                rows.update(taken=unit.n_live + unit.n_in, submitted=unit.n_in)


def different_books() -> list[str]:
    """Return the budgets that differ from the rows they sum up."""
    return [
        f"{each.slug}: spent is {each.spent} cents and held {each.reserved} cents more than rows"
        for each in budget.differences()
    ]


def mend_books() -> None:
    """Let each budget say what its rows say."""
    for each in budget.differences():
        budget.mend(each)


def stale_tickets() -> list[str]:
    """Return the tickets of people who wait or talk though their lease is over."""
    return [f"ticket {ticket.pk} of stage {ticket.stage}" for ticket in _stale_tickets()]


def _stale_tickets() -> list[Ticket]:
    late = Q(lease__closed_at__lt=timezone.now() - LATE) | Q(lease__closed_at__isnull=True)
    open_tickets = Ticket.objects.exclude(state=TicketState.DONE).select_related("stage")
    return list(open_tickets.exclude(lease__state=LeaseState.LIVE).filter(late))


def end_stale_tickets() -> None:
    """End them and their dialogs, as the look at dialogs does."""
    for stage in dialog_maintenance.stages_to_maintain():
        waiting_room.end_departed(stage, timezone.now())
    settle_dialogs()


def unsettled_dialogs() -> list[str]:
    """Return the dialogs that are over, or that a partner has left for good, and not settled."""
    return [f"dialog {dialog.pk} of stage {dialog.stage}" for dialog in _unsettled_dialogs()]


def _unsettled_dialogs() -> list[Dialog]:
    before = timezone.now() - LATE
    over = Q(state=DialogState.OVER) & (Q(ended_at__lt=before) | Q(ended_at__isnull=True))
    done = TicketState.DONE
    left = ~Q(state=DialogState.OVER) & (
        Q(student_ticket__state=done) | Q(teacher_ticket__state=done)
    )
    rows = Dialog.objects.filter(over | left, settled=False)
    return list(rows.select_related("stage__collection", "student_ticket", "teacher_ticket"))


def settle_dialogs() -> None:
    """End those that were left, keep what was said, owe its pay."""
    now = timezone.now()
    for dialog in _unsettled_dialogs():
        tickets = (dialog.student_ticket, dialog.teacher_ticket)
        gone = [each for each in tickets if each.state == TicketState.DONE]
        if dialog.state != DialogState.OVER and gone:
            moves.end(dialog.pk, moves.role_of(dialog, gone[0]), Ending.LEFT, now)
        settlement.settle(dialog, now)


def unpublished() -> list[str]:
    """Return the HITs of open collections that were planned and never got to the marketplace."""
    late = Posting.objects.filter(
        state=PostingState.PUBLISHING,
        stage__collection__state=CollectionState.COLLECTING,
        created_at__lt=timezone.now() - LATE,
    ).select_related("stage")
    return [f"posting {posting.pk} of stage {posting.stage}" for posting in late]


def unconfirmed() -> list[str]:
    """Return what was handed in here and is not listed by the marketplace."""
    late = Submission.objects.filter(
        state=ReceiptState.HELD,
        received_at__lt=timezone.now() - LOST_AFTER - LATE,
        # Workers with a HIT of their own collect what they are owed when they like.
        payments__state=PaymentState.DUE,
        payments__posting__worker__isnull=True,
    ).distinct()
    return [f"submission {work.pk}, of {work.received_at:%Y-%m-%d %H:%M}" for work in late]


def half_paid() -> list[str]:
    """Return the approvals that were begun and not noted as done."""
    late = Submission.objects.filter(
        state=ReceiptState.APPROVING, confirmed_at__lt=timezone.now() - LATE
    )
    return [f"submission {work.pk}" for work in late]


def hits_here_alone() -> list[str]:
    """Return the HITs that are open or undecided here and that the marketplace never had."""
    return [
        f"posting {each.pk} of stage {each.stage}: HIT {each.external_id}"
        for each in _unlisted()
        if not marketplace.is_known(each.external_id)
    ]


def _unlisted() -> list[Posting]:
    """Return the HITs that are open or undecided here and that the marketplace does not list."""
    states = (PostingState.LIVE, PostingState.SUBMITTED, PostingState.SUBMITTED_EMPTY)
    ours = list(
        Posting.objects.filter(
            state__in=states,
            provider=marketplace.PROVIDER,
            environment=marketplace.environment(),
        ).select_related("stage__collection")
    )
    listed = {hit.hit_id for _, hit in marketplace.hits_of_collections()} if ours else set()
    return [each for each in ours if each.external_id not in listed]


def hits_there_alone() -> list[str]:
    """Return the HITs of collections that the marketplace lists and Collector never planned."""
    listed = list(marketplace.hits_of_collections())
    planned = set(map(str, Posting.objects.values_list("token", flat=True).iterator()))
    return [f"HIT {hit.hit_id}" for token, hit in listed if token not in planned]


def unknown_here() -> list[str]:
    """Return what was handed in on the marketplace and Collector knows nothing of."""
    rows = [
        (collection, row)
        for type_id, collection in _types()
        for row in marketplace.submitted_assignments(type_id)
    ]
    # What is decided there may not be listed any more.
    rows += [
        (each.stage.collection.slug, row)
        for each in _unlisted()
        if marketplace.is_known(each.external_id)
        for row in marketplace.assignments_of(each.external_id)
    ]
    return [
        f"{collection}: assignment {row.assignment_id} of HIT {row.hit_id}"
        for collection, row in rows
        if not _is_known(row)
    ]


def _types() -> list[tuple[str, str]]:
    rows = Posting.objects.filter(state__in=[PostingState.LIVE, PostingState.SUBMITTED])
    rows = rows.exclude(external_type="").order_by()
    return list(rows.values_list("external_type", "stage__collection__slug").distinct())


def _is_known(row: marketplace.Assignment) -> bool:
    posting = Posting.objects.filter(external_id=row.hit_id).first()
    if posting is None or posting.worker_id:
        return True
    session = empty_submissions.session_of(posting, row)
    works = Submission.objects.filter(lease__session=session)
    empty = EmptySubmission.objects.filter(session=session)
    return session is not None and (works.exists() or empty.exists())


def confirm_unknown() -> None:
    """Read the marketplace's lists, as each round does."""
    for slug in {slug for _, slug in _types()}:
        reconcile.confirm_submissions(Collection.objects.get(slug=slug), timezone.now())


def paid_here_alone() -> list[str]:
    """Return the newest rewards that are confirmed here, and whose work is not approved there."""
    return [
        f"payment {payment.pk}: there assignment {name} is {status}"
        for payment, name, status in _paid_here_alone()
    ]


def _paid_here_alone() -> list[tuple[Payment, str, str]]:
    newest = Payment.objects.filter(
        state=PaymentState.CONFIRMED,
        submission__state=ReceiptState.APPROVED,
        posting__worker__isnull=True,
        posting__provider=marketplace.PROVIDER,
        posting__environment=marketplace.environment(),
        kind="reward",
    ).select_related("submission__lease__session__posting")
    found = []
    for payment in newest.order_by("-confirmed_at")[:NEWEST_PAYMENTS]:
        assert payment.submission
        name = payment.submission.session.session_id
        try:
            status = marketplace.status_of(name)
        except MarketplaceError as error:
            if not error.permanent:
                raise
            status = UNKNOWN
        if status != "Approved":
            found.append((payment, name, status))
    return found


def approve_paid() -> None:
    """Approve there what is paid here and undecided there."""
    for _, name, status in _paid_here_alone():
        if status == "Submitted":
            marketplace.approve(name)


def look_after(find_open: Q) -> None:
    """Look after the collections in question as a job does, now."""
    for collection in Collection.objects.filter(find_open).distinct():
        maintain_alone(collection, timezone.now())


def _of_submissions(state: ReceiptState) -> Q:
    return Q(stages__units__leases__submission__state=state)


LISTED = "reads the marketplace's list again, and gives lost work a HIT of its own to be paid by"
CHECKS = (
    Check(
        "overdue leases",
        "A worker's time was over long ago, and the place is still theirs.",
        "ends the lease, as jobs do; what was saved is paid",
        overdue_leases,
        end_overdue_leases,
    ),
    Check(
        "units",
        "A unit counts other places than are taken or handed in.",
        "counts its leases and submissions anew",
        wrong_units,
        recount_units,
    ),
    Check(
        "books",
        "A collection's budget differs from the payments and what holds money.",
        "lets the budget say what the rows say",
        different_books,
        mend_books,
    ),
    Check(
        "tickets",
        "Somebody is listed as waiting or talking whose time is over.",
        "ends the wait, pays it, and lets the partner go on",
        stale_tickets,
        end_stale_tickets,
    ),
    Check(
        "dialogs",
        "A dialog is over, or one partner has left it for good, and nobody has been paid for it.",
        "keeps what was said, owes its pay, and lets the partner go on",
        unsettled_dialogs,
        settle_dialogs,
    ),
    Check(
        "unpublished HITs",
        "HITs are planned, their money is held, and they never got to the marketplace.",
        "publishes them, as jobs do",
        unpublished,
        partial(look_after, Q(stages__postings__state=PostingState.PUBLISHING)),
    ),
    Check(
        "unconfirmed work",
        "Work was handed in here, and the marketplace does not list it.",
        LISTED,
        unconfirmed,
        partial(look_after, _of_submissions(ReceiptState.HELD)),
    ),
    Check(
        "half-done payments",
        "An approval was begun, and whether it was carried out was never noted.",
        "approves again: what is approved already stays so",
        half_paid,
        partial(look_after, _of_submissions(ReceiptState.APPROVING)),
    ),
    Check(
        "HITs here alone",
        "HITs are open or undecided here, and the marketplace has never had them: the databases "
        "are of two moments, or its address leads to another one.",
        "",
        hits_here_alone,
    ),
    Check(
        "HITs on the marketplace alone",
        "The marketplace lists HITs of collections that were never planned here: the databases "
        "are of two moments.",
        "",
        hits_there_alone,
    ),
    Check(
        "work on the marketplace alone",
        "Somebody has handed in on the marketplace what Collector knows nothing of.",
        "takes it over as submitted empty, for a person to decide",
        unknown_here,
        confirm_unknown,
    ),
    Check(
        "payments here alone",
        f"Of the newest {NEWEST_PAYMENTS} rewards one is paid by our books and not approved there.",
        "approves on the marketplace what is undecided there",
        paid_here_alone,
        approve_paid,
    ),
)
