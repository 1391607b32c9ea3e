"""Tells workers of decisions about their work, tests, pay and access: one message for each.

Work that is approved in its time is no news: it shows in history and earnings. Each function
expects the transaction of the decision, so that both are kept or neither.
"""

from datetime import datetime
from typing import Any

from marketplace.models import (
    HANDED_IN,
    HIT,
    Assignment,
    Message,
    Payout,
    QualificationType,
    Requester,
    Worker,
)
from marketplace.money.amounts import price_of
from marketplace.notifications.system_messages import own_message, system_message

# What a message keeps of a name, so that the whole subject fits.
LONGEST_NAME = 140
# The subjects of those that open HITs.
OPENING = ("qualification_given", "added_to_group")


def tell_of_work(
    hit: HIT, assignment: Assignment, key: str, text: dict[str, Any], now: datetime
) -> None:
    """Write what was decided about an assignment; key: of the subject; text: the columns of it.

    The person of a closed account reads it at the account that is theirs now.
    """
    merged = Worker.objects.filter(pk=assignment.worker_id).values_list("merged_into", flat=True)
    Message.objects.create(
        worker_id=merged.get() or assignment.worker_id,
        requester_id=hit.requester_id,
        about=assignment,
        sent_at=now,
        **system_message("subject", key, title=hit.hit_type.title[:LONGEST_NAME]),
        **text,
    )


def tell_of_qualification(
    row: QualificationType, worker: Worker, key: str, text: dict[str, Any], now: datetime
) -> None:
    """Write what was decided about a qualification; key: of the subject; text: the columns of it.

    It leads to the work that was handed in for the qualification, where there is such work.
    """
    handed_in = Assignment.objects.filter(
        worker=worker,
        state__in=HANDED_IN,
        hit__requester=row.requester_id,
        hit__hit_type__keywords__contains=f"earns:{row.qualification_type_id}",
    )
    Message.objects.create(
        worker=worker,
        # Nobody reads what is answered to the account that groups belong to.
        requester=None if hasattr(row, "group") else row.requester,
        qualification_type=row,
        about=handed_in.order_by("submitted_at").last(),
        sent_at=now,
        **system_message("subject", key, name=row.name[:LONGEST_NAME]),
        **text,
    )


def description_of(row: QualificationType) -> dict[str, Any]:
    """Return what a qualification is as the columns of a message's text."""
    return {"text": row.description, "text_message": row.description_message}


def reason_of(words: str) -> dict[str, Any]:
    """Return a reason, or that none was given, as the columns of a message's text."""
    return own_message("text", words) if words else system_message("text", "no_reason")


def tell_of_block(requester: Requester, worker: Worker, key: str, now: datetime) -> None:
    """Write that a requester's HITs are closed to the worker or open again; why stays unsaid."""
    Message.objects.create(
        worker=worker,
        requester=requester,
        sent_at=now,
        **system_message("subject", key, name=requester.name[:LONGEST_NAME]),
        **system_message("text", f"{key}_means"),
    )


def tell_of_payment(payout: Payout) -> None:
    """Write that a payment was recorded: how much, when and by what."""
    how = {"date": payout.paid_on.isoformat(), "method": payout.method}
    Message.objects.create(
        worker=payout.worker,
        sent_at=payout.recorded_at,
        **system_message("subject", "paid", amount=price_of(payout.amount_cents)),
        **system_message("text", "paid_how", reference=payout.reference, **how),
    )
