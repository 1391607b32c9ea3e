"""Makes two accounts of one person one, money and work included."""

from datetime import datetime

from django.db import transaction
from django.db.models import OuterRef, QuerySet, Subquery

from marketplace.models import (
    LIVE,
    Assignment,
    BonusPayment,
    Invitation,
    LedgerEntry,
    Message,
    PaymentReport,
    Payout,
    PayoutLine,
    QualificationGrant,
    QualificationRequest,
    Worker,
    WorkerBlock,
    WorkerProfile,
)
from marketplace.router import DATABASE

# Rows that simply become the other account's.
MOVED = (BonusPayment, LedgerEntry, Payout, Message, PaymentReport, Invitation)


class MergeError(ValueError):
    """The accounts cannot be made one; the message says why."""


def merge(kept: Worker, second: Worker, now: datetime) -> int:
    """Move all of the second account to the kept one and close it, its id naming the other now.

    Returns how many pieces of work stay under the second id, because both did the same HIT; what
    those still earn is owed to the kept account. Raises MergeError for one and the same account,
    one that was merged or erased before, a program's and a person's, and while the second one
    stands on an open payout list.
    """
    with transaction.atomic(using=DATABASE):
        pair = Worker.objects.select_for_update().order_by("pk").in_bulk([kept.pk, second.pk])
        kept, second = pair[kept.pk], pair[second.pk]
        if kept == second:
            raise MergeError("These are one account already. Choose two different ones.")
        if kept.merged_into_id or second.merged_into_id or not kept.is_active:
            raise MergeError("One of these accounts is closed or merged. Choose the open one.")
        if kept.is_simulated != second.is_simulated:
            raise MergeError("One of these accounts is simulated: no person is behind it.")
        if kept.erased_at or second.erased_at:
            raise MergeError("One of these accounts was erased: nobody can say whose it was.")
        if PayoutLine.objects.filter(worker=second, payout=None, dropped_at=None).exists():
            raise MergeError(
                f"{second.worker_id} stands on an open payout list. Confirm that payment or take "
                "it off the list, then merge."
            )
        _join_profiles(kept, second)
        n_left = _move_assignments(kept, second)
        for model in MOVED:
            model._default_manager.filter(worker=second).update(worker=kept)
        PayoutLine.objects.filter(worker=second).update(worker=kept)
        _move_unless_there(QualificationGrant, "qualification_type", kept, second)
        _move_unless_there(QualificationRequest, "qualification_type", kept, second)
        _move_unless_there(WorkerBlock, "requester", kept, second)
        second.sessions.all().delete()
        Worker.objects.filter(merged_into=second).update(merged_into=kept)
        second.merged_into, second.is_active, second.link_digest = kept, False, None
        second.sign_in_name = None
        second.save()
    return n_left


def _move_assignments(kept: Worker, second: Worker) -> int:
    both = Assignment.objects.filter(hit=OuterRef("hit"), worker=kept, state__in=LIVE)
    mine = Assignment.objects.filter(worker=second)
    double = mine.filter(state__in=LIVE, hit__in=Subquery(both.values("hit")))
    left = list(double.values_list("pk", flat=True))
    # Both may have accepted in one form, if they shared a browser.
    mine.exclude(pk__in=left).update(worker=kept, form_key="")
    return len(left)


def _move_unless_there(
    model: type[QualificationGrant] | type[QualificationRequest] | type[WorkerBlock],
    field: str,
    kept: Worker,
    second: Worker,
) -> None:
    """Move rows that the kept account has none of; of two, the kept account's own counts."""
    there = model._default_manager.filter(worker=kept).values(field)
    rows: QuerySet[QualificationGrant] = model._default_manager.filter(worker=second)  # type: ignore[assignment]
    rows.exclude(**{f"{field}__in": there}).update(worker=kept)
    rows.delete()


def _join_profiles(kept: Worker, second: Worker) -> None:
    """Fill what the kept account's profile lacks from the second one's, which is then gone."""
    other = WorkerProfile.objects.filter(worker=second).first()
    if other is None:
        return
    named_by = list(other.named_by.exclude(hits__assignments__worker=kept))
    other.delete()
    own, _ = WorkerProfile.objects.get_or_create(worker=kept)
    for name in ("mail", "mturk_id", "prolific_id", "n_approved_before", "percent_approved_before"):
        if getattr(own, name) is None:
            setattr(own, name, getattr(other, name))
    if not own.payout_way:
        own.payout_way, own.payout_to = other.payout_way, other.payout_to
        own.payout_name = other.payout_name
    own.notes = "\n".join(filter(None, [own.notes, other.notes]))
    own.save()
    # Who named the second account by another id must not learn this one.
    if own.mturk_id == other.mturk_id:
        own.named_by.add(*named_by)
