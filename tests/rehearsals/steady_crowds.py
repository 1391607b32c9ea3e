"""Simulated workers who never give up: whatever goes away, they try again, and others come.

A process of its own, until it is terminated; then it prints what its workers were told is taken.
"""

import itertools
import json
import math
import random
import signal
import sys
import threading
import time
from dataclasses import dataclass
from typing import Any

PAUSE_SECONDS = 0.5
# Whoever fails so often in a row has a page that leads nowhere, and leaves.
MOST_FAILURES = 200
# Then somebody new comes: who qualifies does so once, and asks about each text once.
MOST_HITS, MOST_IDLE = 6, 8
THREADS_EACH = 3
INSPECT_SECONDS = 1.0
# So long does everybody have to finish once all is over.
LAST_SECONDS = 90.0
over = threading.Event()


@dataclass(frozen=True)
class Pace:
    """How a crowd works: how many at a collection at once, who looks again after `pause_seconds`.

    think_seconds: how long a HIT stays in their hands. stays: nobody leaves for somebody new.
    """

    people: int = THREADS_EACH
    pause_seconds: float = PAUSE_SECONDS
    think_seconds: float = 0.0
    stays: bool = False

    @property
    def most_hits(self) -> float:
        """Return how many HITs one worker does."""
        return math.inf if self.stays else MOST_HITS

    @property
    def most_idle(self) -> float:
        """Return after how many looks in vain one worker leaves."""
        return math.inf if self.stays else MOST_IDLE


def people(slug: str, seed: str, taken: list[tuple[str, str]], pace: Pace) -> None:
    """Have one worker after another work on a collection until all is over.

    taken: is added the name and the HIT of whatever the marketplace's page said is handed in.
    """
    from django.conf import settings

    from collector.models import Collection
    from tasks.simulation.behaviour import behaviour_of
    from tasks.simulation.browser import Browser
    from tasks.simulation.recruiting import Recruit

    collection = Collection.objects.get(slug=slug)
    for number in itertools.count(1):
        recruit = Recruit(collection, behaviour_of("mixed", number), f"{seed}:{number}", None)
        worker = recruit.worker(
            f"{slug} {seed} {number}", Browser(settings.MARKETPLACE_URL), kinds=frozenset()
        )
        worker.script = thinking(worker.script, pace.think_seconds)
        work(collection, worker, taken, pace)
        worker.browser.close()
        if over.is_set():
            return


def thinking(script: Any, seconds: float) -> Any:
    """Return what a worker types, after a while; at once when all is over."""

    def think_and_type(state: Any, opener: Any) -> Any:
        over.wait(random.uniform(0.5, 1.5) * seconds)
        return script(state, opener)

    return think_and_type


def work(collection: Any, worker: Any, taken: list[tuple[str, str]], pace: Pace) -> None:
    """Do HITs until there were enough, or none for a while."""
    from django.db import Error, connections

    from tasks.simulation import crowd
    from tasks.simulation.browser import StuckError, UnreachableError

    hits = idle = failures = 0
    while (
        not over.is_set()
        and hits < pace.most_hits
        and idle < pace.most_idle
        and failures < MOST_FAILURES
    ):
        try:
            if not worker.counts["signed in"]:
                worker.sign_in()
                worker.counts["signed in"] += 1
            types = list(crowd.hit_types(collection))
            wanted = [one for one in types if one not in worker.done] or types
            outcome = worker.turn(crowd.available_hits(collection, wanted), time.monotonic())
        except (Error, UnreachableError, StuckError) as error:
            print(f"{worker.name}: {error}"[:300], file=sys.stderr, flush=True)
            connections.close_all()
            failures += 1
            time.sleep(random.uniform(0.5, 1.5) * pace.pause_seconds)
            continue
        failures = 0
        if outcome == "submitted":
            hits, idle = hits + 1, 0
            taken.append((worker.name, worker.doing))
        else:
            idle += 1
        over.wait(random.uniform(0.5, 1.5) * pace.pause_seconds)


def inspect(slug: str) -> None:
    """Grant or decline whatever the workers do to qualify, all the time."""
    from django.db import Error, connections
    from django.utils import timezone

    from collector.models import Collection
    from collector.protocols.loading import get_protocol
    from tasks.simulation.recruiting import inspect_waiting
    from tasks.simulation.simulated_contract import SIMULATED

    collection = Collection.objects.get(slug=slug)
    judge = get_protocol(collection.protocol).part(SIMULATED).inspect
    while not over.wait(INSPECT_SECONDS):
        try:
            inspect_waiting(collection, judge, timezone.now())
        except Error:
            connections.close_all()


def main(
    qualifying: list[str], others: list[str], seed: int, pace: dict[str, Any] | None = None
) -> None:
    """Work on these collections; of the first ones workers qualify for their HITs."""
    signal.signal(signal.SIGTERM, lambda *_: over.set())
    taken: list[tuple[str, str]] = []
    kept = Pace(**(pace or {}))
    # Whose partner has gone with another crowd waits for longer than anybody waits for this one.
    threads = [threading.Thread(target=inspect, args=(slug,), daemon=True) for slug in qualifying]
    for slug in [*qualifying, *others]:
        threads += [
            threading.Thread(
                target=people, args=(slug, f"{seed}.{number}", taken, kept), daemon=True
            )
            for number in range(kept.people)
        ]
    for thread in threads:
        thread.start()
    while not over.is_set():
        time.sleep(0.2)
    until = time.monotonic() + LAST_SECONDS
    for thread in threads:
        thread.join(timeout=max(0.0, until - time.monotonic()))
    print(json.dumps(taken), flush=True)


if __name__ == "__main__":
    import django

    django.setup()
    main(*json.loads(sys.argv[1]))
