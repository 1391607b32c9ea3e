"""Repeats the work of a log: the same workers, units and order, through the real pages."""

import random
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

import httpx
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from annotation.release.log import AssignmentLine, DialogLine, Log, LogError
from annotation.replay.recreation import ReplayedPlaces, only, with_topics, write_texts
from collector.models import Collection, Stage
from collector.protocols.creation import parameters_of
from tasks.dialog import moves, pairing, presence, settlement, waiting_room
from tasks.dialog.dialog_state import view_of
from tasks.dialog.moves import Move
from tasks.models import (
    Dialog,
    Grant,
    GrantState,
    Lease,
    LeaseState,
    Question,
    ReaderHint,
    Submission,
    Ticket,
    TicketState,
    Topic,
    Unit,
    Worker,
)
from tasks.people import eligibility, qualifications
from tasks.simulation.browser import Browser, Page
from tasks.simulation.identity import introduce
from tasks.simulation.worker import SimulatedWorker, WorkPage
from tasks.work import leases
from tasks.work.dialog_rules import Ending, Refused, Role
from tasks.work.kinds.registry import kind_of

# Tries to accept a HIT: a job of the same instance may change who is eligible in between.
MOST_TRIES = 3


class ReplayedDialogs:
    """Replays the dialogs of a log in their order, each as soon as both partners have come."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._to_come = deque(log.dialogs)
        self._n_left = Counter(place for line in log.dialogs for place in _places_of(line))
        self._came: dict[int, tuple[AssignmentLine, Ticket]] = {}

    def join(self, one: AssignmentLine, lease: Lease) -> list[int]:
        """Put a worker who came to the waiting room into it, and replay the dialogs that can begin.

        Returns the places in the log of the assignments that this concerned. Raises LogError if a
        rule refuses what the log says.
        """
        if one.taken in self._log.tickets:
            try:
                ticket = waiting_room.arrive(lease, timezone.now())
            except waiting_room.NoRoom as error:
                raise LogError(
                    f"Who took the assignment at place {one.taken} of the log is not let in: "
                    f"{error}"
                ) from None
            # The waiting time was measured, so a replay copies it from the log.
            ticket.waited_seconds = self._log.tickets[one.taken].waited_seconds
            ticket.save(update_fields=["waited_seconds"])
            self._came[one.taken] = one, ticket
        concerned = [one.taken]
        while self._to_come and all(place in self._came for place in _places_of(self._to_come[0])):
            line = self._to_come.popleft()
            self._hold(line)
            self._n_left.subtract(_places_of(line))
            concerned += _places_of(line)
        return concerned

    def has_more(self, one: AssignmentLine) -> bool:
        """Return whether the assignment has further dialogs."""
        return self._n_left[one.taken] > 0

    def leave(self, one: AssignmentLine) -> None:
        """End the wait of a worker who came to the waiting room, and owe them its pay."""
        if one.taken in self._came:
            _, ticket = self._came[one.taken]
            settlement.finish(ticket, timezone.now())

    def _hold(self, line: DialogLine) -> None:
        """Replay a dialog from its beginning to its settlement, or nothing of it."""
        try:
            with transaction.atomic():
                dialog = self._begun(line)
                for place, move in enumerate(self._log.moves.get(line.dialog, ()), start=1):
                    is_asked = move.role is Role.STUDENT
                    ticket = dialog.student_ticket_id if is_asked else dialog.teacher_ticket_id
                    said = move.question if is_asked else move.answer
                    assert said is not None
                    moves.make_now(view_of(ticket), Move(dialog.pk, UUID(int=place), said), move.at)
                _end_dialog(dialog, line)
                for place in _places_of(line):
                    # Messages are marked by their worker, who is marked as in the log.
                    said_by, _ = self._came[place]
                    Worker.objects.filter(pk=said_by.worker).update(synthetic=said_by.synthetic)
                settlement.settle(dialog, timezone.now())
        except (Refused, pairing.NotNow, IntegrityError) as error:
            raise LogError(f"The dialog {line.dialog} of the log is refused now: {error}") from None

    def _begun(self, line: DialogLine) -> Dialog:
        """Return the dialog, begun by the two workers in their former roles, both present."""
        # The tickets as they are now, locked with their workers as in any pairing.
        locked = Ticket.objects.select_for_update(of=("self", "worker"), no_key=True)
        student, teacher = (
            locked.select_related("worker").get(pk=self._came[place][1].pk)
            for place in _places_of(line)
        )
        if any(ticket.state != TicketState.WAITING for ticket in (student, teacher)):
            raise Refused("One of both does not wait for it.")
        topics = Topic.objects.select_for_update(of=("self",), no_key=True)
        topic = topics.get(stage_id=student.stage_id, seed__key=line.seed)
        # The log fixes both roles, so that pairing must not draw them.
        student.can_teach = teacher.can_ask = False
        stage = Stage.objects.select_related("collection").get(pk=student.stage_id)
        met = [((student, teacher), topic, topic.begun)]
        (dialog,) = pairing.begin_dialogs(stage, met, line.began, random.Random(line.dialog))
        for ticket in (student, teacher):
            presence.ready(dialog.pk, ticket.pk, line.began)
        return Dialog.objects.get(pk=dialog.pk)


def _places_of(line: DialogLine) -> tuple[int, int]:
    return line.student, line.teacher


def _end_dialog(dialog: Dialog, line: DialogLine) -> None:
    """End a dialog as in the log; raises LogError if it has ended differently by now.

    A dialog that was going on when the log was written ends with nothing said in it.
    """
    if line.ending is None:
        moves.end(dialog.pk, Role.STUDENT, Ending.LEFT, line.began)
        return
    if line.ended_by and line.ended:
        moves.end(dialog.pk, line.ended_by, line.ending, line.ended)
    row = Dialog.objects.get(pk=dialog.pk)
    if (row.ending, row.ended_by) != (line.ending, line.ended_by or ""):
        raise LogError(f"The dialog {line.dialog} of the log has not ended as before.")


@dataclass
class HeldAssignment:
    """An accepted assignment: the marketplace's page, the frame in it, and our lease.

    `page` is None once the assignment was returned on the marketplace.
    """

    one: AssignmentLine
    page: Page | None
    inner: Page
    work_page: WorkPage
    lease: Lease


class Rerun:
    """One replay of a log, on a collection that was created for it.

    `leases` has the primary keys of the leases by the places in the log where they were taken.
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
        """Repeat everything in the log's order, and call `advance` after each step.

        Raises LogError if something goes differently from the log. Raises StuckError,
        UnreachableError and MarketplaceError as simulated workers do.
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
            # A worker may have been admitted without ever coming.
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
        """Return an assignment that was never handed in, once its last dialog is over."""
        hold = self._holds.get(place)
        if hold is None or hold.page is None or self._dialogs.has_more(hold.one):
            return
        if hold.one.handed_in is None and hold.one.end != LeaseState.LIVE:
            self._dialogs.leave(hold.one)
            self._give_back(hold, LeaseState(hold.one.end))

    def _accepted(self, one: AssignmentLine, worker: SimulatedWorker, stage: Stage) -> Page:
        """Accept a HIT for the worker and return its page; raises LogError."""
        hit = self._places.vacant_hit(one, stage)
        known = Worker.objects.filter(pk=one.worker)
        for _ in range(MOST_TRIES):
            page = worker.accept(hit)
            if page is not None:
                return page
            # Before this unit was made, a job may have reported that there is no work for them.
            eligibility.record_eligibility([*known], [stage])
            eligibility.tell_marketplace(self.collection)
        raise LogError(f"{_called(one)}: the marketplace does not let its worker in.")

    def _hand_in(self, one: AssignmentLine) -> None:
        hold = self._holds.pop(one.taken)
        Worker.objects.filter(pk=one.worker).update(synthetic=one.synthetic)
        self._dialogs.leave(one)
        data = one.data or {}
        while hold.work_page.goes_on(data):
            # The page shows its questions one after the other.
            pass
        if not one.counts and hold.page is not None:
            self._give_back(hold, LeaseState.EXPIRED)
        # Work that was too late and found its place taken must find no free place now either.
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
        # The working time was measured, so a replay copies it from the log.
        Submission.objects.filter(pk=submission.pk).update(active_seconds=one.active_seconds)
        # A reader's hints on drafts are copied from the log, not computed again.
        hold.lease.reader_hints.all().delete()
        ReaderHint.objects.bulk_create(
            ReaderHint(lease=hold.lease, place=place, kept=kept) for place, kept in one.hints
        )
        decision = self._notes.get((hold.lease.unit.stage.name, one.worker))
        if decision is not None:
            self._decide(decision.stage, one.worker, granted=decision.granted)

    def _give_back(self, hold: HeldAssignment, state: LeaseState) -> None:
        """Free an assignment's place and return its HIT; its page stays open."""
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
        """Make sure that the worker may take the stage, and sees the texts that they saw then."""
        self._show({stage.name: one.instructions or 1, "consent": one.consent or 1})
        held = Grant.objects.filter(
            worker_id=one.worker,
            state=GrantState.GRANTED,
            qualification__stage__collection=self.collection,
        )
        for required in self._required(one, stage):
            if not held.filter(qualification__stage__name=required).exists():
                # They were declined later than this: the log has only the last decision.
                self._decide(required, one.worker, granted=True)

    def _required(self, one: AssignmentLine, stage: Stage) -> list[str]:
        """Return the stages whose qualifications the worker needed for the assignment."""
        table = parameters_of(self.collection).stages()[stage.name]
        ways = dict(zip(Role, kind_of(table).role_qualifications(table), strict=False))
        if one.taken in self.log.tickets:
            roles = [ways[role] for role in self.log.tickets[one.taken].roles]
        else:
            # The worker never came to the dialogs of the stage: one role was enough to take it.
            decided = {line.stage for line in self.log.decisions if line.worker == one.worker}
            roles = [way for way in ways.values() if way in decided][:1]
        return [name for name in (table.requires, *roles) if name]

    def _show(self, versions: dict[str, int]) -> None:
        """Show workers these versions of the texts, if they are newer."""
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
        """Expire an open assignment of the full unit, because one must have expired then.

        If none is open, a place is added for work that does not count. Raises LogError if the work
        counts.
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
        """Expire the worker's earlier assignment of the stage, if nobody may have two."""
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
