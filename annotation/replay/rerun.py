"""Does the work of a log again: the same workers, units and order, through the real pages."""

from collections.abc import Callable
from dataclasses import dataclass

import httpx
from django.conf import settings
from django.db.models import F
from django.utils import timezone

from annotation.release.log import AssignmentLine, Log, LogError
from annotation.replay.dialogs import ReplayedDialogs
from annotation.replay.recreation import write_texts
from annotation.replay.units import ReplayedPlaces, only, with_topics
from collector.models import Collection, Stage
from collector.protocols.creation import parameters_of
from tasks.models import (
    Grant,
    GrantState,
    Lease,
    LeaseState,
    Question,
    ReaderHint,
    Submission,
    Unit,
    Worker,
)
from tasks.people import eligibility, qualifications
from tasks.simulation.browser import Browser, Page
from tasks.simulation.identity import introduce
from tasks.simulation.worker import SimulatedWorker, WorkPage
from tasks.work import leases
from tasks.work.dialog_rules import Role
from tasks.work.kinds.registry import kind_of

# A job of the same instance may come between what is told and what is accepted.
MOST_TRIES = 3


@dataclass
class HeldAssignment:
    """An assignment in hand: the marketplace's page, the frame in it, and our lease.

    `page` is None once it was given back on the marketplace.
    """

    one: AssignmentLine
    page: Page | None
    inner: Page
    work_page: WorkPage
    lease: Lease


class Rerun:
    """One walk through a log, on a collection that was laid out for it.

    `leases` are the keys of those that were taken, by their places in the log.
    transport: answers in place of the network, for tests.
    """

    def __init__(
        self, collection: Collection, log: Log, transport: httpx.BaseTransport | None = None
    ) -> None:
        self.collection, self.log = collection, log
        self.leases: dict[int, int] = {}
        self._transport = transport
        self._workers: dict[str, SimulatedWorker] = {}
        self._holds: dict[int, HeldAssignment] = {}
        self._places = ReplayedPlaces(collection, log)
        self._dialogs = ReplayedDialogs(log)
        self._shown = dict.fromkeys((text.text for text in log.texts), 1)
        self._notes = {(one.stage, one.worker): one for one in log.decisions}

    def run(self, advance: Callable[[], object] = lambda: None) -> None:
        """Do everything in the log's order, calling `advance` after each step.

        Raises LogError where something goes otherwise than it went, StuckError, UnreachableError
        and MarketplaceError as simulated workers do.
        """
        for place, one in self.log.events():
            if place == one.taken:
                self._take(one)
            else:
                self._hand_in(one)
            advance()
        self._show({text.text: text.version for text in self.log.texts})
        simulated = {one.worker for one in self.log.assignments if one.synthetic}
        Worker.objects.filter(pk__in=simulated).update(synthetic=True)
        came = {one.worker for one in self.log.assignments}
        for decision in self.log.decisions:
            # Somebody may have been let in and never come.
            if decision.worker in came:
                self._decide(decision.stage, decision.worker, granted=decision.granted)
        self.collection.parameters = self.log.collection.parameters
        self.collection.save(update_fields=["parameters"])

    def _take(self, one: AssignmentLine) -> None:
        stage = self._places.stage(self.log.units[one.unit].stage)
        self._prepare(one, stage)
        unit = self._places.unit(one, stage)
        if unit.taken >= unit.redundancy:
            self._make_room(one, unit)
        self._end_earlier(one, stage)
        worker = self._worker(one)
        with with_topics(stage):
            page = self._accepted(one, worker, stage)
            with only(stage, unit):
                inner = worker.enter(page)
        lease = Lease.objects.filter(unit=unit, worker_id=one.worker, state=LeaseState.LIVE).first()
        if inner is None or lease is None:
            raise LogError(f"{_called(one)}: the page offers no such work. {inner}.")
        work_page = worker.work_page(inner)
        self._holds[one.taken] = HeldAssignment(one, page, inner, work_page, lease)
        self.leases[one.taken] = lease.pk
        for place in self._dialogs.join(one, lease):
            self._let_go(place)

    def _let_go(self, place: int) -> None:
        """Give back an assignment that nobody hands in, once its last dialog is over."""
        hold = self._holds.get(place)
        if hold is None or hold.page is None or self._dialogs.has_more(hold.one):
            return
        if hold.one.handed_in is None and hold.one.end != LeaseState.LIVE:
            self._dialogs.leave(hold.one)
            self._give_back(hold, LeaseState(hold.one.end))

    def _accepted(self, one: AssignmentLine, worker: SimulatedWorker, stage: Stage) -> Page:
        """Return the page of a HIT that its worker has accepted; raises LogError."""
        hit = self._places.vacant_hit(one, stage)
        known = Worker.objects.filter(pk=one.worker)
        for _ in range(MOST_TRIES):
            page = worker.accept(hit)
            if page is not None:
                return page
            # A job has found no work for them before this unit was made, and told so.
            eligibility.record_eligibility([*known], [stage])
            eligibility.tell_marketplace(self.collection)
        raise LogError(f"{_called(one)}: the marketplace does not let its worker in.")

    def _hand_in(self, one: AssignmentLine) -> None:
        hold = self._holds.pop(one.taken)
        Worker.objects.filter(pk=one.worker).update(synthetic=one.synthetic)
        self._dialogs.leave(one)
        data = one.data or {}
        while hold.work_page.goes_on(data):
            # Its questions are shown one after the other.
            pass
        if not one.counts and hold.page is not None:
            self._give_back(hold, LeaseState.EXPIRED)
        # What came too late and found its place taken finds none free now either.
        with only(hold.lease.unit.stage, hold.lease.unit if one.counts else None):
            form, problems = hold.work_page.submit(data)
        if form is None:
            raise LogError(f"{_called(one)} is refused now: {problems[0]}")
        if hold.page is not None:
            worker = self._worker(one)
            worker.hand_over(hold.page, hold.inner, form, form.fields)
        submission = Submission.objects.get(lease=hold.lease)
        questions = Question.objects.filter(submission=submission).order_by("position")
        made = list(questions.values_list("key", flat=True))
        if (submission.raw, submission.counts, made) != (one.data, one.counts, one.made):
            raise LogError(f"{_called(one)} was taken in otherwise than before.")
        # How long somebody worked is measured, not made: a replay takes it over.
        Submission.objects.filter(pk=submission.pk).update(active_seconds=one.active_seconds)
        # What a reader made of drafts is told once more, not made.
        hold.lease.reader_hints.all().delete()
        ReaderHint.objects.bulk_create(
            ReaderHint(lease=hold.lease, place=place, kept=kept) for place, kept in one.hints
        )
        decision = self._notes.get((hold.lease.unit.stage.name, one.worker))
        if decision is not None:
            self._decide(decision.stage, one.worker, granted=decision.granted)

    def _give_back(self, hold: HeldAssignment, state: LeaseState) -> None:
        """Let go of an assignment's slot, and of its HIT; its page stays open."""
        assert hold.page is not None
        self._worker(hold.one).give_back(hold.page)
        hold.page = None
        leases.end(hold.lease, state, timezone.now())
        if not hold.one.counts:
            # A place that `_make_room` opened closes again.
            told = self.log.units[hold.one.unit].redundancy
            units = Unit.objects.filter(pk=hold.lease.unit_id, taken__lte=told)
            units.filter(redundancy__gt=told).update(redundancy=told)

    def _prepare(self, one: AssignmentLine, stage: Stage) -> None:
        """See to it that the worker may take the stage, and reads the words they read."""
        self._show({stage.name: one.instructions or 1, "consent": one.consent or 1})
        held = Grant.objects.filter(
            worker_id=one.worker,
            state=GrantState.GRANTED,
            qualification__stage__collection=self.collection,
        )
        for required in self._required(one, stage):
            if not held.filter(qualification__stage__name=required).exists():
                # They were declined later than this: the log keeps the last decision alone.
                self._decide(required, one.worker, granted=True)

    def _required(self, one: AssignmentLine, stage: Stage) -> list[str]:
        """Return the stages of whose qualifications the worker had need for the assignment."""
        table = parameters_of(self.collection).stages()[stage.name]
        ways = dict(zip(Role, kind_of(table).role_qualifications(table), strict=False))
        if one.taken in self.log.tickets:
            roles = [ways[role] for role in self.log.tickets[one.taken].roles]
        else:
            # Of a stage of dialogs that nobody came to: one role was enough to take it.
            decided = {line.stage for line in self.log.decisions if line.worker == one.worker}
            roles = [way for way in ways.values() if way in decided][:1]
        return [name for name in (table.requires, *roles) if name]

    def _show(self, versions: dict[str, int]) -> None:
        """Let workers read these versions of the words, where they are newer."""
        newer = {name: number for name, number in versions.items() if number > self._shown[name]}
        if newer:
            write_texts(self.collection, self.log, newer, timezone.now())
            self._shown.update(newer)

    def _decide(self, stage_name: str, worker_id: str, *, granted: bool) -> None:
        grant = Grant.objects.filter(
            worker_id=worker_id,
            qualification__stage__collection=self.collection,
            qualification__stage__name=stage_name,
        ).first()
        if grant is None:
            raise LogError(
                f"The log holds no work by which {worker_id} could have qualified: whoever was let "
                "in without a test cannot be replayed."
            )
        line = self._notes.get((stage_name, worker_id))
        qualifications.decide(
            grant,
            granted=granted,
            note=line.note if line else "",
            by=line.by if line else "",
            is_let_in=line.let_in if line else False,
            now=timezone.now(),
        )
        qualifications.tell_marketplace(self.collection.stages.get(name=stage_name))

    def _make_room(self, one: AssignmentLine, unit: Unit) -> None:
        """Let the time run out of somebody who is late on the unit: so it must have been.

        Where nobody is late, a place is opened for who did not hand in; raises LogError otherwise.
        """
        for hold in self._holds.values():
            if hold.one.unit == one.unit and hold.page is not None:
                self._give_back(hold, LeaseState.EXPIRED)
                return
        if one.counts:
            raise LogError("More people took a unit than it has assignments: the log is not whole.")
        # Somebody's work was excluded for a while. That opened a place, which closed afterwards.
        Unit.objects.filter(pk=unit.pk).update(redundancy=F("redundancy") + 1)

    def _end_earlier(self, one: AssignmentLine, stage: Stage) -> None:
        """Let the worker's earlier assignment of the stage run out, where nobody may hold two."""
        table = parameters_of(self.collection).stages()[stage.name]
        if kind_of(table).holds_one(table):
            for hold in self._holds.values():
                of_stage = self.log.units[hold.one.unit].stage == stage.name
                if hold.one.worker == one.worker and of_stage and hold.page is not None:
                    self._give_back(hold, LeaseState.EXPIRED)

    def _worker(self, one: AssignmentLine) -> SimulatedWorker:
        if one.worker not in self._workers:
            made = SimulatedWorker(
                name=f"Replayed worker {len(self._workers) + 1} of {self.collection.slug[:40]}",
                browser=Browser(settings.MARKETPLACE_URL, self._transport),
                script=lambda state, opener: {},
                introduce=lambda person, hit: bool(
                    introduce(
                        person,
                        synthetic=False,
                        now=timezone.now(),
                        worker_id=one.worker,
                    )
                ),
            )
            made.sign_in()
            self._workers[one.worker] = made
        return self._workers[one.worker]


def _called(one: AssignmentLine) -> str:
    return f"The assignment taken at place {one.taken} of the log"
