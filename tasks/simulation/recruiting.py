"""Creates a crowd of simulated workers, each with a behaviour and a script that fills in pages."""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import orjson
from django.conf import settings
from django.utils import timezone

from collector.models import Collection
from collector.protocols.creation import parameters_of
from collector.protocols.loading import get_protocol
from tasks.models import Grant, GrantState, Lease, Submission
from tasks.people.qualifications import decide
from tasks.simulation import crowd
from tasks.simulation.behaviour import Behaviour, behaviour_of
from tasks.simulation.browser import NOBODY, Browser, Observer
from tasks.simulation.conversation import Conversation
from tasks.simulation.crowd import Crowd
from tasks.simulation.identity import forget_times, introduce, mark_synthetic
from tasks.simulation.simulated_contract import SIMULATED, RealWork, SimulatedModule
from tasks.simulation.worker import Opener, Script, SimulatedWorker
from tasks.work.kinds.kind import Item
from tasks.work.kinds.registry import kind_of
from tasks.work.reading import article_page

# Longer names do not fit the marketplace's field.
LONGEST_SLUG = 40
# Partners wait for each other, so that every worker needs a thread, up to this number.
MOST_THREADS = 64
INSPECTOR = "simulation"


def recruit(
    collection: Collection,
    n_workers: int,
    *,
    behaviour: str,
    seed: int,
    threads: int = 4,
    stage: str = "",
    inspect: bool = False,
    replay: RealWork | None = None,
    transport: httpx.BaseTransport | None = None,
    observer: Observer | None = None,
    most_seconds: float = math.inf,
) -> Crowd:
    """Return a crowd that is ready to run; the same seed gives the same workers.

    behaviour: a name of BEHAVIOURS or "mixed". replay: real work to type if it fits. observer:
    receives what the workers meet; with one, a worker who is stuck leaves and the others go on.
    most_seconds: after this time nobody begins more. Raises ProtocolError if the protocol has no
    simulated workers. Raises ValueError for a replay by a single worker, because the writer of a
    question never answers it.
    """
    if replay is not None and n_workers < 2:
        raise ValueError("Replay with two workers at least: nobody answers their own questions.")
    protocol = get_protocol(collection.protocol)
    tables = parameters_of(collection).stages().values()
    judges = inspect and any(table.qualifies for table in tables)
    judge = protocol.part(SIMULATED, "inspect").inspect if judges else None
    if any(kind_of(table).pairs_workers for table in tables):
        threads = MOST_THREADS
    recruits = [
        Recruit(collection, behaviour_of(behaviour, number), f"{seed}:{number}", replay)
        for number in range(n_workers)
    ]
    workers = [
        one.worker(
            f"Simulated worker {number + 1} of {collection.slug[:LONGEST_SLUG]} ({seed})",
            Browser(settings.MARKETPLACE_URL, transport, observer or NOBODY),
            kinds=frozenset(replay.kinds_of(number) if replay else []),
        )
        for number, one in enumerate(recruits)
    ]
    return Crowd(
        collection,
        workers,
        stage=stage,
        threads=min(threads, max(1, n_workers)),
        inspect=(lambda: inspect_waiting(collection, judge, timezone.now())) if judge else list,
        finish=lambda: mark_replayed(recruits, replay),
        stuck=observer.stuck if observer else None,
        most_seconds=most_seconds,
    )


def mark_replayed(recruits: "Sequence[Recruit]", replay: RealWork | None) -> None:
    """Mark what is not real in replayed work: the times, and what was added."""
    if replay is None:
        return
    forget_times([one.worker_id for one in recruits if one.worker_id])
    replay.finish()


class Recruit:
    """How one worker works: a behaviour, a random generator, and maybe real work to replay."""

    def __init__(
        self,
        collection: Collection,
        behaviour: Behaviour,
        seed: str,
        replay: RealWork | None,
    ) -> None:
        self._collection = collection
        self._simulated: SimulatedModule = get_protocol(collection.protocol).part(SIMULATED)
        self._behaviour, self._replay = behaviour, replay
        self._rng = random.Random(seed)
        self.worker_id = ""

    def worker(self, name: str, browser: Browser, kinds: frozenset[str]) -> SimulatedWorker:
        """Return the worker, ready to sign in."""
        return SimulatedWorker(
            name=name,
            browser=browser,
            script=self.script(),
            introduce=self.introduce,
            kinds=kinds,
            talk=self.talk,
        )

    def introduce(self, person: str, hit: str) -> bool:
        """Mark the worker as simulated, and return whether the HIT is of the collection.

        A worker who only types real work is not marked until they add to it.
        """
        if not self.worker_id:
            synthetic = self._replay is None
            self.worker_id = introduce(person, synthetic=synthetic, now=timezone.now())
        return crowd.is_ours(self._collection, hit)

    def script(self) -> Script:
        """Return the function that fills in a page for the worker."""
        return self._fill if self._replay is None else self._fill_again

    def talk(self, page: Mapping[str, Any]) -> Conversation:
        """Return the worker's side of the live dialog whose page has this state."""
        limits = page["limits"]

        def speak(dialog: Mapping[str, Any]) -> dict[str, Any]:
            place = {**dialog, "limits": limits}
            if self._replay is not None:
                return self._replay.speak(place)
            return self._simulated.speak(place, self._behaviour, self._rng)

        return Conversation(page["token"], speak, self._behaviour, self._rng)

    def _fill(self, state: Mapping[str, Any], open_article: Opener) -> dict[str, Any]:
        return self._simulated.fill(state, self._behaviour, self._rng, open_article)

    def _fill_again(self, state: Mapping[str, Any], open_article: Opener) -> dict[str, Any]:
        assert self._replay is not None
        data, is_real = self._replay.fill(state, self._behaviour, self._rng, open_article)
        if not is_real:
            mark_synthetic(self.worker_id)
        return data


def real_work(protocol: str, path: Path) -> RealWork:
    """Return the real work in a file; raises ValueError or ProtocolError, saying what to do."""
    return get_protocol(protocol).part(SIMULATED, "replay").replay(path)


def inspect_waiting(
    collection: Collection, judge: Callable[..., tuple[bool, str]], now: datetime
) -> list[bool]:
    """Grant or decline every waiting submission of a simulated worker; return the decisions.

    judge: the protocol's `inspect`. Submissions of people are left to people.
    """
    waiting = Grant.objects.filter(
        qualification__stage__collection=collection,
        state=GrantState.SUBMITTED,
        worker__synthetic=True,
    ).select_related("qualification__stage")
    decided = []
    for grant in waiting:
        stage = grant.qualification.stage
        submission = (
            Submission.objects.filter(lease__unit__stage=stage, lease__worker_id=grant.worker_id)
            .select_related("lease__unit__stage__collection__corpus")
            .order_by("-id")
            .first()
        )
        if submission is None:
            continue
        lease = submission.lease
        items = kind_of(stage).page_items(lease.unit)
        granted, note = judge(stage.kind, submission.raw, items, _opener(lease, items))
        decide(grant, granted=granted, note=note, by=INSPECTOR, now=now)
        decided.append(granted)
    return decided


def _opener(lease: Lease, items: list[Item]) -> Callable[[str, str], Any]:
    """Return a function that opens a linked article as the worker's page does."""

    def open_article(item: str, title: str) -> Any:
        page = article_page(lease, items, item, title)
        return orjson.loads(page) if page else None

    return open_article
