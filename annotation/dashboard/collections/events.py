"""What happened last in a collection, one sentence each, from the rows that it left behind."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter

from django.db.models import Q
from django.db.models.functions import Coalesce

from annotation.dashboard.collection_context import CollectionContext
from annotation.dashboard.collections.parameter_form import label_of, readable_value
from annotation.dashboard.worker_names import People
from annotation.models import Exclusion, Override, Release
from collector.models import CollectionRevision, CollectionState
from tasks.models import (
    ON_MARKETPLACE,
    Grant,
    GrantState,
    Payment,
    PaymentKind,
    ProblemReport,
    RejectionState,
    RejectionStep,
    Submission,
)

SHOWN = 8
# What was done, by whether it was whatever the test says, and whether they have it.
DID = {
    (False, True): "granted",
    (False, False): "declined",
    (True, True): "let in",
    (True, False): "no longer lets in",
}
# The steps of a rejection that people take.
REJECTING = {
    RejectionState.PROPOSED: "proposed to reject work of {}",
    RejectionState.AGREED: "confirmed the rejection of work of {}",
    RejectionState.WITHDRAWN: "withdrew the rejection of work of {}",
    RejectionState.RESTORING: "took back the rejection of work of {}",
}


@dataclass(frozen=True)
class Event:
    """One sentence and when."""

    at: datetime
    sentence: str


def events_of(context: CollectionContext, people: People) -> list[Event]:
    """Return the newest events, newest first; one query for each kind of event."""
    kinds = (
        *(_submissions, _grants, _problems, _overrides),
        *(_extras, _rejections, _exclusions, _revisions, _releases),
    )
    found = [event for kind in kinds for event in kind(context, people)]
    return sorted(found, key=attrgetter("at"), reverse=True)[:SHOWN]


def _submissions(context: CollectionContext, people: People) -> Iterator[Event]:
    rows = Submission.objects.filter(lease__unit__stage__collection=context.collection)
    for row in rows.select_related("lease__unit__stage").order_by("-received_at")[:SHOWN]:
        title = str(row.lease.unit.stage)
        yield Event(row.received_at, f"{people.name(row.lease.worker_id)} handed in: {title}.")


def _grants(context: CollectionContext, people: People) -> Iterator[Event]:
    rows = Grant.objects.filter(
        qualification__stage__collection=context.collection, decided_at__isnull=False
    )
    for row in rows.select_related("qualification__stage").order_by("-decided_at")[:SHOWN]:
        did = DID[row.is_let_in, row.state == GrantState.GRANTED]
        stage = row.qualification.stage
        sentence = f"{row.decided_by} {did} {people.name(row.worker_id)}: {stage}."
        yield Event(row.decided_at, sentence)  # type: ignore[arg-type]


def _problems(context: CollectionContext, people: People) -> Iterator[Event]:
    rows = ProblemReport.objects.filter(lease__unit__stage__collection=context.collection)
    for row in rows.select_related("lease").order_by("-at")[:SHOWN]:
        yield Event(row.at, f"{people.name(row.lease.worker_id)} reported a problem.")


def _overrides(context: CollectionContext, people: People) -> Iterator[Event]:
    rows = Override.objects.filter(verdict__question__stage__collection=context.collection)
    for row in rows.order_by("-at")[:SHOWN]:
        did = "keeps the question" if row.new_outcome == "kept" else "excludes the question"
        overrode = f"{row.by} overrode a verdict: {did}."
        by_votes = f"{row.by} gave a question back to its votes."
        yield Event(row.at, by_votes if row.follows_votes else overrode)


def _extras(context: CollectionContext, people: People) -> Iterator[Event]:
    """What was paid on top by somebody's decision; a bonus of a rule says nobody's name."""
    rows = Payment.objects.filter(
        Q(kind=PaymentKind.COMPENSATION) | Q(kind=PaymentKind.BONUS) & ~Q(by=""),
        collection=context.collection,
    )
    for row in rows.order_by("-created_at")[:SHOWN]:
        who, amount = people.name(row.worker_id), context.price(row.amount_cents)
        sentence = f"{row.by} gave {who} a bonus of {amount}."
        if row.kind == PaymentKind.COMPENSATION:
            sentence = f"{who} is compensated with {amount}."
        elif row.by == ON_MARKETPLACE:
            sentence = f"A bonus of {amount} for {who} was found on the marketplace."
        yield Event(row.created_at, sentence)


def _rejections(context: CollectionContext, people: People) -> Iterator[Event]:
    rows = RejectionStep.objects.filter(
        rejection__session__posting__stage__collection=context.collection, state__in=REJECTING
    )
    for row in rows.select_related("rejection__session").order_by("-at", "-pk")[:SHOWN]:
        who = people.name(row.rejection.session.worker_id)
        did = REJECTING[RejectionState(row.state)]
        yield Event(row.at, f"{row.by} {did.format(who)}.")


def _exclusions(context: CollectionContext, people: People) -> Iterator[Event]:
    rows = Exclusion.objects.filter(collection=context.collection)
    for row in rows.order_by(Coalesce("back_at", "at").desc())[:SHOWN]:
        who = people.name(row.worker_id)
        yield Event(row.at, f"{row.by} excluded everything by {who}.")
        if row.back_at:
            yield Event(row.back_at, f"{row.back_by} included the work of {who} again.")


def _revisions(context: CollectionContext, people: People) -> Iterator[Event]:
    for row in context.collection.revisions.order_by("-at")[:SHOWN]:
        yield Event(row.at, f"{row.by} {_revised(context, row)}.")


def _revised(context: CollectionContext, row: CollectionRevision) -> str:
    if row.key == "budget_cents":
        return f"set the budget to {context.price(row.new)}"
    if row.key == "state":
        done = row.new == CollectionState.FINISHED
        return "finished the collection" if done else "reopened the collection"
    return f"changed {label_of(row.key)}: {readable_value(row.key, row.new, context.parameters)}"


def _releases(context: CollectionContext, people: People) -> Iterator[Event]:
    for row in Release.objects.filter(collection=context.collection).order_by("-created_at")[
        :SHOWN
    ]:
        yield Event(row.created_at, f"Release {row.number} was made.")
