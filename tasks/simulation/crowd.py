"""A crowd of simulated workers on one collection, until nothing is left for them to do."""

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from django.conf import settings
from django.db import connections
from django.db.models import F, Q

from collector.models import Collection, StageState
from collector.protocols.creation import parameters_of
from collector.protocols.parameters import StageTable
from tasks import hits
from tasks.models import (
    Grant,
    GrantState,
    LeaseState,
    Posting,
    PostingState,
    ReceiptState,
    Submission,
)
from tasks.simulation.browser import StuckError
from tasks.simulation.worker import SimulatedWorker
from tasks.work import units

# A worker who found nothing looks again after this long, or as soon as there is something new.
REST_SECONDS = 3.0
GLANCE_SECONDS = 0.1
# How many looks of the jobs may bring nothing before a crowd believes that nothing will come.
QUIET_POLLS = 4
# Longer than this the jobs do not need for what is waiting for them, unless they do not run.
PATIENCE_SECONDS = 90.0


@dataclass
class Result:
    """What a crowd has done; `hits` by stage, `waiting` what the jobs never came to.

    `out_of_time`: it was ended before nobody found work any more.
    """

    n_workers: int
    seconds: float = 0.0
    hits: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    waiting: str = ""
    out_of_time: bool = False


class Crowd:
    """Runs the workers in threads; `inspect` decides what waits and returns what it decided.

    `finish` is called when all have stopped, whether or not one of them met trouble. `stuck` is
    told of a worker who cannot go on and leaves; without it, all stop. After `most_seconds` nobody
    begins anything more.
    """

    def __init__(
        self,
        collection: Collection,
        workers: Sequence[SimulatedWorker],
        *,
        stage: str = "",
        threads: int = 4,
        inspect: Callable[[], list[bool]] = list,
        finish: Callable[[], None] = lambda: None,
        stuck: Callable[[str, StuckError], None] | None = None,
        most_seconds: float = math.inf,
    ) -> None:
        self.collection, self.workers, self.stage = collection, workers, stage
        self.threads, self.inspect, self.finish = threads, inspect, finish
        self.stuck, self.most_seconds = stuck, most_seconds
        self.turns = Turns(len(workers), time.monotonic)
        self.result = Result(len(workers))
        # The kind of stage of each HIT type, and the types that qualify.
        self._types: dict[str, str] = {}
        self._once: set[str] = set()
        self._changed_at = time.monotonic()
        self._latest: tuple[int, int] | None = None
        self._ends_at = math.inf
        self._over = threading.Event()
        self._lock = threading.Lock()

    def run(self, report: Callable[[Result], None] = lambda result: None) -> Result:
        """Return what was done when nobody finds work any more.

        Raises StuckError, unless somebody is told, or UnreachableError, the first that a worker
        met, when all have stopped.
        """
        began = time.monotonic()
        self._ends_at = began + self.most_seconds
        try:
            self._run(report)
        finally:
            self.finish()
        for worker in self.workers:
            self.result.counts += worker.counts
            self.result.counts["requests"] += worker.browser.n_requests
        self.result.seconds = time.monotonic() - began
        return self.result

    def _run(self, report: Callable[[Result], None]) -> None:
        with ThreadPoolExecutor(self.threads, thread_name_prefix="worker") as pool:
            running = [pool.submit(self._work) for _ in range(self.threads)]
            try:
                while not self._over.is_set() and not self._is_finished():
                    report(self.result)
                    failed = wait(running, timeout=GLANCE_SECONDS, return_when=FIRST_EXCEPTION)
                    if failed.done:
                        break
            finally:
                self._over.set()
        for thread in running:
            thread.result()

    def _work(self) -> None:
        """Give turns until the crowd is done; the first failure ends it for all."""
        try:
            while not self._over.is_set():
                number = self.turns.take()
                if number is None:
                    time.sleep(GLANCE_SECONDS / 4)
                    continue
                rest = REST_SECONDS
                try:
                    rest = self._turn(self.workers[number])
                except StuckError as error:
                    if self.stuck is None:
                        raise
                    self.stuck(self.workers[number].name, error)
                    rest = math.inf
                finally:
                    self.turns.give_back(number, rest)
        except BaseException:
            self._over.set()
            raise
        finally:
            connections.close_all()

    def _turn(self, worker: SimulatedWorker) -> float:
        """Return how many seconds the worker rests after one HIT or one look in vain."""
        if not worker.counts["signed in"]:
            worker.sign_in()
            worker.counts["signed in"] += 1
        offers = available_hits(self.collection, self._types_for(worker))
        if not offers:
            return REST_SECONDS
        outcome = worker.turn(offers, time.monotonic())
        if outcome != "submitted":
            return REST_SECONDS
        stage = stage_of_hit(worker.doing)
        with self._lock:
            self.result.hits[stage] += 1
        self._changed_at = time.monotonic()
        return 0.0

    def _types_for(self, worker: SimulatedWorker) -> list[str]:
        """Return the types a worker may want; nobody tries twice to qualify for the same work."""
        return [
            one
            for one, kind in self._types.items()
            if (not worker.kinds or kind in worker.kinds) and one not in worker.done & self._once
        ]

    def _is_finished(self) -> bool:
        """Look around for everybody; return whether there has been nothing to do for long."""
        for granted in self.inspect():
            self.result.counts["qualified" if granted else "declined"] += 1
        now = time.monotonic()
        if now > self._ends_at:
            self.result.out_of_time = True
            return True
        latest = change_counters(self.collection)
        if latest != self._latest:
            self._latest, self._changed_at = latest, now
            tables = parameters_of(self.collection).stages()
            types = {
                one: stage
                for one, stage in hit_types(self.collection, self.stage).items()
                if has_partners(self.collection, tables[stage])
            }
            self._once = {one for one, stage in types.items() if tables[stage].qualifies}
            self._types = {one: tables[stage].kind for one, stage in types.items()}
            self.turns.wake()
        quiet = now - self._changed_at
        # A worker who waits for a partner does nothing that others could wait for.
        n_waiting = sum(worker.is_waiting for worker in self.workers)
        if self.turns.n_busy > n_waiting or quiet < settings.POLL_SECONDS + 1:
            return False
        if quiet < QUIET_POLLS * settings.POLL_SECONDS + 1 and not all_is_done(self.collection):
            return False
        self.result.waiting = unfinished_jobs(self.collection)
        return not self.result.waiting or quiet > PATIENCE_SECONDS


class Turns:
    """Shared by threads; workers are numbers from 0. clock: seconds, never going back."""

    def __init__(self, n_workers: int, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        # Equal times keep the order of numbers: who waited longest comes first.
        self._ready_at = dict.fromkeys(range(n_workers), clock())
        self._busy: set[int] = set()

    def take(self) -> int | None:
        """Return the worker who has waited longest for a turn, None while all rest or work."""
        with self._lock:
            idle = [number for number in self._ready_at if number not in self._busy]
            number = min(idle, key=self._ready_at.__getitem__, default=None)
            if number is None or self._ready_at[number] > self._clock():
                return None
            self._busy.add(number)
            return number

    def give_back(self, number: int, rest_seconds: float) -> None:
        """End a worker's turn; the next comes after `rest_seconds` at the earliest, or never."""
        with self._lock:
            self._busy.discard(number)
            if math.isinf(rest_seconds):
                del self._ready_at[number]
            else:
                self._ready_at[number] = self._clock() + rest_seconds

    def wake(self) -> None:
        """End everybody's rest: there is something new."""
        with self._lock:
            now = self._clock()
            self._ready_at = {number: min(at, now) for number, at in self._ready_at.items()}

    @property
    def n_busy(self) -> int:
        """Return how many workers are at work."""
        return len(self._busy)


def hit_types(collection: Collection, stage: str = "") -> dict[str, str]:
    """Return the HIT types of the collection, or of one stage, with their stages, in order."""
    postings = Posting.objects.filter(stage__collection=collection).exclude(external_type="")
    if stage:
        postings = postings.filter(stage__name=stage)
    found = postings.order_by("stage__position").values_list("external_type", "stage__name")
    return dict(found.distinct())


def available_hits(collection: Collection, types: Sequence[str]) -> dict[str, list[str]]:
    """Return each type with the HITs to choose from, none where every HIT of it is ours.

    Types without a free HIT are left out. Two collections with the same words and rewards share
    their HIT types on a marketplace.
    """
    live = Posting.objects.filter(external_type__in=types, state=PostingState.LIVE)
    others = live.exclude(stage__collection=collection)
    shared = set(others.order_by().values_list("external_type", flat=True).distinct())
    found: dict[str, list[str]] = {one: [] for one in types}
    free = live.filter(stage__collection=collection, external_type__in=shared).exclude(
        sessions__leases__state=LeaseState.LIVE
    )
    for type_id, hit in free.values_list("external_type", "external_id"):
        found[type_id].append(hit)
    return {one: hits for one, hits in found.items() if hits or one not in shared}


def has_partners(collection: Collection, table: StageTable) -> bool:
    """Return whether somebody has each of the roles that a stage needs, so that no wait is vain."""
    wanted = {getattr(table, name, "") for name in ("requires_student", "requires_teacher")} - {""}
    granted = Grant.objects.filter(
        qualification__stage__collection=collection,
        qualification__stage__name__in=wanted,
        told_state=GrantState.GRANTED,
    )
    return set(granted.values_list("qualification__stage__name", flat=True)) == wanted


def is_ours(collection: Collection, hit_id: str) -> bool:
    """Return whether a HIT of the marketplace belongs to the collection."""
    return Posting.objects.filter(stage__collection=collection, external_id=hit_id).exists()


def stage_of_hit(hit_id: str) -> str:
    """Return the name of the stage that a HIT belongs to; empty for one that is not ours."""
    posting = Posting.objects.filter(external_id=hit_id).select_related("stage").first()
    return posting.stage.name if posting else ""


def change_counters(collection: Collection) -> tuple[int, int]:
    """Return numbers that change whenever workers may find something new: HITs, qualifications."""
    postings = Posting.objects.filter(stage__collection=collection).exclude(external_id="")
    told = Grant.objects.filter(
        qualification__stage__collection=collection, told_state=GrantState.GRANTED
    )
    return postings.count(), told.count()


def unfinished_jobs(collection: Collection) -> str:
    """Return what the jobs have not come to yet, as words; empty when they have done all."""
    decided = Grant.objects.filter(qualification__stage__collection=collection).exclude(
        Q(state=GrantState.SUBMITTED) | Q(state=F("told_state"))
    )
    owed = {
        "HITs to publish": Posting.objects.filter(
            stage__collection=collection, state=PostingState.PUBLISHING
        ).count(),
        "decisions to tell": decided.count(),
        "submissions to confirm": Submission.objects.filter(
            lease__unit__stage__collection=collection, state=ReceiptState.HELD
        ).count(),
    }
    return ", ".join(f"{number} {name}" for name, number in owed.items() if number)


def all_is_done(collection: Collection) -> bool:
    """Return whether every open stage has had its work, and all of it is handed in."""
    return all(units.is_done(stage) for stage in collection.stages.filter(state=StageState.OPEN))


def places_left(collection: Collection) -> dict[str, int]:
    """Return the places that nobody has taken, by the name of each open stage that has some."""
    left = {
        stage.name: hits.places_left(stage)
        for stage in collection.stages.filter(state=StageState.OPEN)
    }
    return {name: number for name, number in left.items() if number > 0}
