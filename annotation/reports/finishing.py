"""What finishing a collection does, and what stays to be done after it, in sentences."""

from collections.abc import Callable
from dataclasses import dataclass

from django.db.models import Q
from django.utils import timezone

from annotation.decisions.counted_work import counted_work_of
from annotation.decisions.verdicts import voting_stages
from annotation.reports.attention import decisions_waiting
from collector.models import Collection
from collector.protocols.creation import parameters_of
from tasks.lifecycle.unfinished_work import UnfinishedWork, unfinished_work_of
from tasks.models import Grant, GrantState, Question

Price = Callable[[int], str]


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
    """Return how long whoever is at work may go on."""
    if work.until is None:
        return ""
    until = timezone.localtime(work.until)
    return f"until {until:%-d %b, %H:%M} {until.tzname()} at the latest"


def _counted(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
