"""What was handed in and what became of its pay: found by where it stands, told in one line."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Q, QuerySet

from annotation.dashboard.collection_context import CollectionContext
from annotation.dashboard.people.worker_names import People
from annotation.reports.attention import (
    empty_submissions_waiting,
    refused_empty_submissions,
    refused_submissions,
)
from collector.models import Collection, Stage
from tasks.models import (
    EmptySubmission,
    ReceiptState,
    Rejection,
    RejectionState,
    Session,
    Submission,
)
from tasks.money.payments import Work

PENDING = [ReceiptState.CONFIRMED, ReceiptState.APPROVING]
CAME_TO_NOTHING = [
    RejectionState.WITHDRAWN,
    RejectionState.LAPSED,
    RejectionState.FAILED,
    RejectionState.RESTORED,
]
# What waits for a person comes first: the first that is not empty is shown.
FILTERS = {
    "submitted_empty": "Submitted empty",
    "refused": "Refused by the marketplace",
    "proposed": "Rejection proposed",
    "waiting": "Waiting to be paid",
    "rejected": "Rejected",
    "past": "Rejection withdrawn",
    "paid": "Paid",
}


@dataclass(frozen=True)
class Line:
    """One assignment with what was handed in, what to call the worker, and their number."""

    session: Session
    work: Work
    who: str
    number: int | None

    @property
    def stage(self) -> Stage:
        """Return the stage its HIT belongs to."""
        return self.session.posting.stage

    @property
    def is_empty_submission(self) -> bool:
        """Return whether it came without any work."""
        return isinstance(self.work, EmptySubmission)


def assignments_of(collection: Collection, name: str) -> QuerySet[Session]:
    """Return the collection's assignments that stand where a filter of FILTERS says."""
    work = Submission.objects.filter(lease__unit__stage__collection=collection)
    submissions = {
        "refused": refused_submissions(),
        "waiting": work.filter(state__in=PENDING),
        "rejected": work.filter(state=ReceiptState.REJECTED),
        "paid": work.filter(state=ReceiptState.APPROVED),
    }
    empty = {
        "submitted_empty": empty_submissions_waiting(),
        "waiting": EmptySubmission.objects.filter(state=ReceiptState.APPROVING),
        "refused": refused_empty_submissions(),
        "rejected": EmptySubmission.objects.filter(state=ReceiptState.REJECTED),
        "paid": EmptySubmission.objects.filter(state=ReceiptState.APPROVED),
    }
    rejections = {
        "proposed": Rejection.objects.filter(
            state__in=[RejectionState.PROPOSED, RejectionState.AGREED]
        ),
        "past": Rejection.objects.filter(state__in=CAME_TO_NOTHING),
    }
    chosen = Q(pk__in=[])
    if name in submissions:
        chosen |= Q(pk__in=submissions[name].values("lease__session"))
    for rows in (empty.get(name), rejections.get(name)):
        if rows is not None:
            chosen |= Q(pk__in=rows.values("session"))
    return Session.objects.filter(chosen, posting__stage__collection=collection)


def lines_of(sessions: Iterable[Session], people: People) -> list[Line]:
    """Return one line for each assignment; two queries, however many there are."""
    rows = list(sessions)
    works: dict[int, Work] = {}
    for submission in _submissions(rows):
        works[submission.lease.session_id] = submission
    for empty in EmptySubmission.objects.filter(session__in=rows):
        works[empty.session_id] = empty
    return [
        Line(
            session,
            works[session.pk],
            people.name(session.worker_id),
            people.number(session.worker_id),
        )
        for session in rows
        if session.pk in works
    ]


def _submissions(sessions: list[Session]) -> QuerySet[Submission]:
    rows = Submission.objects.filter(lease__session__in=sessions).select_related("lease")
    # What counts comes last, and so is kept.
    return rows.order_by("counts", "pk")


def counts_of(context: CollectionContext) -> dict[str, int]:
    """Return how many assignments each filter finds; one query each."""
    return {name: assignments_of(context.collection, name).count() for name in FILTERS}
