"""What was handed in and what became of its pay: found by where it stands, told in one line."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import F, OuterRef, Q, QuerySet, Subquery

from annotation.dashboard.collection_context import CollectionContext
from annotation.dashboard.lists import ListQuery
from annotation.dashboard.worker_names import People
from annotation.reports.attention import (
    Attention,
    empty_submissions_waiting,
    refused_empty_submissions,
    refused_submissions,
)
from collector.models import Collection, Stage
from tasks.ledger.payments import Work
from tasks.models import (
    EmptySubmission,
    ReceiptState,
    Rejection,
    RejectionState,
    Session,
    Submission,
)

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
# What waits for a decision about pay; each name is a list of the assignments page.
DECISIONS = {
    "submitted_empty": (
        "1 HIT was submitted empty: pay it or look into it",
        "{} HITs were submitted empty: pay them or look into them",
    ),
    "refused": (
        "1 payment was refused by the marketplace: ask again or pay it apart",
        "{} payments were refused by the marketplace: ask again or pay them apart",
    ),
    "proposed": (
        "1 rejection is proposed: confirm or withdraw it",
        "{} rejections are proposed: confirm or withdraw them",
    ),
}
# In words, and by what; what was submitted empty took no time that anybody knows.
ORDERS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "": ("oldest first", ()),
    "newest": ("newest first", ("-pk",)),
    "reward": ("reward, most first", ("-posting__reward_cents",)),
    "time": ("time, shortest first", (F("active_seconds").asc(nulls_last=True),)),
}


def condition_of(asked: ListQuery, people: People) -> Q:
    """Return the condition of assignments by workers and for the stage that are looked for."""
    stage = asked.own["stage"]
    fits = Q(posting__stage__name=stage) if stage else Q()
    return fits & Q(worker__in=people.called(asked.sought)) if asked.sought else fits


@dataclass(frozen=True)
class Todo:
    """`urgent` things cost a worker time or money."""

    sentence: str
    url: str
    urgent: bool = False


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

    @property
    def minutes(self) -> float | None:
        """Return how long a person was active, None for what came without work."""
        if isinstance(self.work, EmptySubmission) or self.simulated:
            return None
        return self.work.active_seconds / 60

    @property
    def simulated(self) -> bool:
        """Return whether a simulated worker handed it in, whose time says nothing about people."""
        return isinstance(self.work, Submission) and self.work.synthetic


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
    # What counts comes last, and so is kept.
    submitted = Submission.objects.filter(lease__session__in=rows).order_by("counts", "pk")
    for submission in submitted.select_related("lease"):
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


def counts_of(collection: Collection, fits: Q) -> dict[str, int]:
    """Return how many assignments that fit each filter finds; one query each."""
    return {name: assignments_of(collection, name).filter(fits).count() for name in FILTERS}


def in_order(sessions: QuerySet[Session], sort: str) -> QuerySet[Session]:
    """Return assignments in one of ORDERS."""
    work = Submission.objects.filter(lease__session=OuterRef("pk")).order_by("-counts", "-pk")
    seconds = Subquery(work.filter(synthetic=False).values("active_seconds")[:1])
    return sessions.annotate(active_seconds=seconds).order_by(*ORDERS[sort][1], "pk")


def decisions_of(context: CollectionContext, attention: Attention) -> list[Todo]:
    """Return the decisions about pay that wait; no query."""
    found = []
    for name, (one, many) in DECISIONS.items():
        number = getattr(attention, name)
        if number:
            sentence = one if number == 1 else many.format(number)
            found.append(Todo(sentence, f"{context.url('assignments')}?show={name}", True))
    return found
