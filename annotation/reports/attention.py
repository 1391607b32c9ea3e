"""What waits for a person in a collection, and what finishing it does."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from annotation.decisions.by_hand import fallen, stages_apart, undecided
from annotation.decisions.counted_work import counted_without, counted_work_of
from annotation.decisions.verdicts import LEFT_OUT, voting_stages
from annotation.models import Verdict
from collector.models import Collection
from collector.protocols.creation import parameters_of
from collector.protocols.loading import ProtocolError
from tasks.lifecycle.publication import UnfinishedWork, unfinished_work_of
from tasks.models import (
    EmptySubmission,
    Grant,
    GrantState,
    Lease,
    LeaseState,
    PartnerReport,
    Payment,
    PaymentKind,
    PaymentState,
    ProblemReport,
    Question,
    ReceiptState,
    Rejection,
    RejectionState,
    Submission,
)
from tasks.people.eligibility import waiting_for_others

# Cut-off work that can be handed in no more is paid by a job within minutes; later than this
# something is wrong.
LATE = timedelta(minutes=10)
OF_SESSION = "session__posting__stage__collection"
Price = Callable[[int], str]


@dataclass(frozen=True)
class Attention:
    """How much waits in one collection."""

    submissions: int = 0
    problems: int = 0
    partner_reports: int = 0
    left_out: int = 0
    labels: int = 0
    fallen: int = 0
    unpaid: int = 0
    submitted_empty: int = 0
    refused: int = 0
    proposed: int = 0
    bonuses: int = 0
    for_others: int = 0

    def waiting(self) -> list[tuple[str, str]]:
        """Return a short phrase for each kind of thing that waits, and the page it waits on."""
        unpaid = "payment for cut-off work due", "payments for cut-off work due"
        labels = "question whose labels differ", "questions whose labels differ"
        others = "stage waiting for another person", "stages waiting for another person"
        fallen = "decision by hand to make again", "decisions by hand to make again"
        left_out = "question excluded by its votes", "questions excluded by their votes"
        found = [
            (
                self.submissions,
                "qualifications",
                "qualification to inspect",
                "qualifications to inspect",
            ),
            (self.problems, "problems", "problem reported", "problems reported"),
            (self.partner_reports, "partners", "partner reported", "partners reported"),
            (self.unpaid, "money", *unpaid),
            (
                self.submitted_empty,
                "assignments",
                "HIT submitted empty",
                "HITs submitted empty",
            ),
            (self.refused, "assignments", "payment refused", "payments refused"),
            (self.proposed, "assignments", "rejection to confirm", "rejections to confirm"),
            (self.bonuses, "money", "bonus refused", "bonuses refused"),
            (self.for_others, "people", *others),
            (self.labels, "questions", *labels),
            (self.fallen, "questions", *fallen),
            (self.left_out, "questions", *left_out),
        ]
        return [
            (f"{number} {one if number == 1 else many}", page)
            for number, page, one, many in found
            if number
        ]


def waiting_grants() -> QuerySet[Grant]:
    """Return the qualification submissions nobody has decided."""
    return Grant.objects.filter(state=GrantState.SUBMITTED)


def open_problems() -> QuerySet[ProblemReport]:
    """Return the workers' reports nobody has resolved."""
    return ProblemReport.objects.filter(resolved_at__isnull=True)


def partner_reports_waiting() -> QuerySet[PartnerReport]:
    """Return what partners in dialogs say of each other that nobody has decided."""
    return PartnerReport.objects.filter(decision="")


def left_out() -> QuerySet[Verdict]:
    """Return the verdicts by which votes left a question out that no person has looked at."""
    by_votes = Verdict.objects.filter(counted_without(frozenset(), "question__"))
    return by_votes.filter(outcome="dropped", overridden=False).exclude(reason=LEFT_OUT.reason)


def unpaid_leases() -> QuerySet[Lease]:
    """Return work cut off by its time whose compensation the budget could not hold so far."""
    return Lease.objects.filter(
        state=LeaseState.EXPIRED,
        draft__isnull=False,
        submission__isnull=True,
        compensated=False,
        session__signed_until__lt=timezone.now() - LATE,
    )


def empty_submissions_waiting() -> QuerySet[EmptySubmission]:
    """Return what came without work and nobody has decided."""
    return EmptySubmission.objects.filter(state=ReceiptState.CONFIRMED)


def refused_submissions() -> QuerySet[Submission]:
    """Return the work that the marketplace would not pay, still owed and without its own HIT."""
    due = Payment.objects.filter(state=PaymentState.DUE, posting__worker=None)
    rows = Submission.objects.filter(state=ReceiptState.REFUSED)
    return rows.filter(pk__in=due.values("submission"))


def refused_empty_submissions() -> QuerySet[EmptySubmission]:
    """Return what came without work, was to be paid, and the marketplace would not pay."""
    due = Payment.objects.filter(
        kind=PaymentKind.REWARD, state=PaymentState.DUE, worker=OuterRef("session__worker")
    )
    rows = EmptySubmission.objects.filter(state=ReceiptState.REFUSED)
    return rows.filter(Exists(due.filter(posting=OuterRef("session__posting"))))


def refused_bonuses() -> QuerySet[Payment]:
    """Return the bonuses that the marketplace would not send."""
    return Payment.objects.filter(kind=PaymentKind.BONUS, state=PaymentState.REFUSED)


def proposed_rejections() -> QuerySet[Rejection]:
    """Return the proposals to reject that nobody has decided."""
    return Rejection.objects.filter(state=RejectionState.PROPOSED)


def decisions_waiting(collection: Collection) -> int:
    """Return how many decisions about pay wait for a person."""
    rows: list[tuple[QuerySet, str]] = [
        (empty_submissions_waiting(), OF_SESSION),
        (refused_empty_submissions(), OF_SESSION),
        (proposed_rejections(), OF_SESSION),
        (refused_submissions(), "lease__unit__stage__collection"),
        (refused_bonuses(), "collection"),
    ]
    return sum(found.filter(**{path: collection}).count() for found, path in rows)


def submissions_waiting(collection: Collection) -> int:
    """Return how many qualification submissions wait to be inspected."""
    return waiting_grants().filter(qualification__stage__collection=collection).count()


def problems_open(collection: Collection) -> int:
    """Return how many workers' reports, also of partners, wait for an answer."""
    reports = open_problems().filter(lease__unit__stage__collection=collection)
    partners = partner_reports_waiting().filter(dialog__stage__collection=collection)
    return reports.count() + partners.count()


def attention_to(collections: Iterable[Collection]) -> dict[int, Attention]:
    """Return what waits in each collection, by its id; as many queries for one as for all.

    Save for those with a stage of labels: each asks one query more.
    """
    collections = list(collections)
    ids = [collection.pk for collection in collections]
    refused = counted(refused_submissions(), "lease__unit__stage__collection", ids)
    for pk, number in counted(refused_empty_submissions(), OF_SESSION, ids).items():
        refused[pk] = refused.get(pk, 0) + number
    found = {
        "submissions": counted(waiting_grants(), "qualification__stage__collection", ids),
        "problems": counted(open_problems(), "lease__unit__stage__collection", ids),
        "partner_reports": counted(partner_reports_waiting(), "dialog__stage__collection", ids),
        "left_out": counted(left_out(), "question__stage__collection", ids),
        "labels": {row.pk: _differing_labels(row) for row in collections},
        "fallen": counted(fallen(), "question__stage__collection", ids),
        "unpaid": counted(unpaid_leases(), "unit__stage__collection", ids),
        "submitted_empty": counted(empty_submissions_waiting(), OF_SESSION, ids),
        "refused": refused,
        "proposed": counted(proposed_rejections(), OF_SESSION, ids),
        "bonuses": counted(refused_bonuses(), "collection", ids),
        "for_others": Counter(one.collection_id for one in waiting_for_others(collections)),
    }
    return {
        pk: Attention(**{name: counts.get(pk, 0) for name, counts in found.items()}) for pk in ids
    }


def _differing_labels(collection: Collection) -> int:
    """Return of how many questions the labels differ, without anybody's decision."""
    try:
        parameters = parameters_of(collection)
    except ProtocolError:
        # Its line in the list says why.
        return 0
    if not stages_apart(parameters):
        return 0
    differ = undecided(collection, parameters)
    return Question.objects.filter(differ, stage__collection=collection).count()


def counted(rows: QuerySet, path: str, ids: list[int]) -> dict[int, int]:
    """Return how many of the rows are of each of these, by the id at `path`; one query."""
    grouped = rows.filter(**{f"{path}__in": ids}).order_by().values(path).annotate(n=Count("pk"))
    return {row[path]: row["n"] for row in grouped}


@dataclass(frozen=True)
class FinishingReport:
    """What is under way, and what waits for a decision."""

    work: UnfinishedWork
    to_inspect: int
    pay_decisions: int
    undecided: int

    def ahead(self, price: Price) -> list[str]:
        """Return what finishing does, for who decides about it."""
        work = self.work
        done = ["Nobody gets new work."]
        if work.hits:
            are = "is" if work.hits == 1 else "are"
            done.append(
                f"{_counted(work.hits, 'HIT')} that nobody works on {are} taken down; "
                f"{price(work.held_cents)} held for them are free again."
            )
        if work.at_work:
            one = work.at_work == 1
            done.append(
                f"{_counted(work.at_work, 'person', 'people')} at work {'goes' if one else 'go'} "
                f"on, {_until(work)}, and {'is' if one else 'are'} paid for what they hand in; "
                "what runs out of time is paid by how much of it was saved."
            )
        if work.places:
            done.append(f"{_counted(work.places, 'assignment')} of the main task will stay open.")
        return [*done, "You can reopen the collection."]

    def remaining(self, price: Price, *, after: bool) -> list[str]:
        """Return what is still to be decided or paid, by a person or by itself.

        after: the collection is finished already, and what was announced is being done.
        """
        work, rest = self.work, []
        if work.hits and after:
            rest.append(f"{_counted(work.hits, 'HIT')} to take down; a job is at it.")
        if work.at_work and after:
            people = _counted(work.at_work, "person", "people")
            rest.append(f"{people} at work, {_until(work)}.")
        if work.due_cents:
            rest.append(
                f"{price(work.due_cents)} owed, not paid yet: it is paid by itself when due."
            )
        if self.to_inspect:
            rest.append(f"{_counted(self.to_inspect, 'qualification')} to inspect.")
        if self.pay_decisions:
            rest.append(f"{_counted(self.pay_decisions, 'decision')} about pay, on the money page.")
        if self.undecided:
            rest.append(
                f"{_counted(self.undecided, 'question')} without enough answers: excluded "
                "from releases."
            )
        return rest


def finishing_report(collection: Collection) -> FinishingReport:
    """Return what is under way and undecided now; raises ProtocolError."""
    grants = Grant.objects.filter(
        qualification__stage__collection=collection, state=GrantState.SUBMITTED
    )
    undecided = Question.objects.filter(
        Q(verdict__isnull=True) | Q(verdict__outcome="waiting"),
        counted_work_of(collection),
        stage__collection=collection,
        stage__name__in=voting_stages(parameters_of(collection)),
    )
    return FinishingReport(
        work=unfinished_work_of(collection),
        to_inspect=grants.count(),
        pay_decisions=decisions_waiting(collection),
        undecided=undecided.count(),
    )


def _until(work: UnfinishedWork) -> str:
    """Return how long a worker may go on."""
    if work.until is None:
        return ""
    until = timezone.localtime(work.until)
    return f"until {until:%-d %b, %H:%M} {until.tzname()} at the latest"


def _counted(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
