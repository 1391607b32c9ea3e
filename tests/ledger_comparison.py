"""Compares the books of Collector with its marketplace's; runs in a process of an instance."""

from collections import Counter
from typing import Any

from django.db.models import F, Q, Sum

POSTED = ("token", "external_id", "external_type")
LISTED = ("annotation", "hit_id", "hit_type__hit_type_id")


def differences(slug: str) -> list[str]:
    """Return a line on everything in which the two sides do not tell the same story."""
    return [*_of_work(slug), *_of_hits(slug), *_of_money(slug)]


def is_collected(slug: str) -> bool:
    """Return whether every question is written, and answered as often as it should be."""
    from collector.models import Stage
    from tasks.work import units

    main = Stage.objects.filter(collection__slug=slug, name__in=("question", "answer"))
    return all(units.is_done(stage) for stage in main)


def _of_work(slug: str) -> list[str]:
    """Each submission is one approved assignment of that person on that HIT, and back."""
    from marketplace.models import HANDED_IN, Assignment, AssignmentState
    from tasks.models import ReceiptState, Submission

    held = Submission.objects.filter(lease__unit__stage__collection__slug=slug)
    session = "lease__session__"
    names = (f"{session}posting__external_id", f"{session}person", f"{session}session_id")
    there = Assignment.objects.filter(state__in=HANDED_IN)
    named = ("hit__hit_id", "worker__worker_id", "assignment_id")
    ours, theirs = Counter(held.values_list(*names)), Counter(there.values_list(*named))
    undecided = there.exclude(state=AssignmentState.APPROVED).values_list(*named)
    unsettled = held.exclude(state=ReceiptState.APPROVED).values_list("pk", "state")
    return [
        *(f"handed in here alone: {row}" for row in ours - theirs),
        *(f"handed in on the marketplace alone: {row}" for row in theirs - ours),
        *(f"not approved there: {row}" for row in undecided),
        *(f"not approved here: {row}" for row in unsettled),
    ]


def _of_hits(slug: str) -> list[str]:
    """Each HIT is of one posting, each posting is one HIT, of the type that it has there."""
    from marketplace.models import HIT
    from tasks.models import Posting, PostingState

    # What was planned and let go before it was posted has no HIT to be.
    let_go = Q(state=PostingState.EXPIRED, external_id="")
    postings = Posting.objects.filter(~let_go, stage__collection__slug=slug)
    ours = {str(token): row for token, *row in postings.values_list(*POSTED)}
    # Behind the token stands where the collection is.
    listed = [
        (annotation.partition(" ")[0], *row)
        for annotation, *row in HIT.objects.values_list(*LISTED)
    ]
    theirs = {token: list(row) for token, *row in listed}
    twice = Counter(token for token, *_ in listed) - Counter(list(theirs))
    return [
        *(f"two HITs for one posting: {token}" for token in twice),
        *(
            f"posting {token} is {ours.get(token)} here and {theirs.get(token)} there"
            for token in {*ours, *theirs}
            if ours.get(token) != theirs.get(token)
        ),
    ]


def _of_money(slug: str) -> list[str]:
    """What was spent is confirmed here and owed there, person by person; nothing is held."""
    from collector.models import Collection
    from marketplace.models import HIT, LedgerEntry
    from marketplace.models.money import LedgerKind
    from tasks.models import Payment, PaymentState, Posting

    collection = Collection.objects.get(slug=slug)
    payments = Payment.objects.filter(collection=collection)
    paid = _by_person(payments.filter(state=PaymentState.CONFIRMED), "worker__identity__person")
    owed = _by_person(LedgerEntry.objects.filter(kind=LedgerKind.REWARD), "worker__worker_id")
    cost = payments.aggregate(all=Sum(F("amount_cents") + F("fee_cents"), default=0))["all"]
    found = {
        "paid but not owed there": paid - owed,
        "owed there but not paid": owed - paid,
        "spent beside the ledger": collection.spent_cents - cost,
        "reserved": collection.reserved_cents,
        "postings with money": Posting.objects.filter(reserved_cents__gt=0).count(),
        "payments open": payments.exclude(state=PaymentState.CONFIRMED).count(),
        "held there": HIT.objects.aggregate(all=Sum("held_cents", default=0))["all"],
    }
    return [f"{name}: {value}" for name, value in found.items() if value]


def _by_person(rows: Any, person: str) -> Counter[str]:
    summed = rows.order_by().values_list(person).annotate(cents=Sum("amount_cents"))
    return Counter(dict(summed))
