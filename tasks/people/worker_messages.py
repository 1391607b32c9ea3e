"""Messages to workers, which the marketplace passes on once work of theirs has been decided."""

from typing import TypeVar

from django.db.models import Exists, Model, OuterRef, QuerySet

from tasks.crowd import marketplace
from tasks.models import ReceiptState, Submission, Worker

Row = TypeVar("Row", bound=Model)
DECIDED = (ReceiptState.APPROVED, ReceiptState.REJECTED)


def with_reachable(rows: QuerySet[Row], worker: str) -> QuerySet[Row]:
    """Return the rows whose worker, at `worker`, a letter can reach: the others wait for theirs."""
    decided = Submission.objects.filter(lease__worker=OuterRef(worker), state__in=DECIDED)
    return rows.filter(Exists(decided), **{f"{worker}__identity__isnull": False})


def send(worker: Worker, *, subject: str, text: str) -> bool:
    """Send a message; return whether it got there. Raises MarketplaceError."""
    return marketplace.send_message(worker.identity.person, subject=subject, text=text)
