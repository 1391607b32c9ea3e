"""What the racing processes of `test_races` do, and how they race."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta

from django.db import connection
from django.utils import timezone


def claim_slots(sessions: list[int], stage_id: int, start: float) -> int:
    """Return how many of these sessions won a slot of the stage."""
    from collector.models import Stage
    from tasks.models import Session
    from tasks.work import leases

    def one(key: int) -> bool:
        stage = Stage.objects.select_related("collection").get(pk=stage_id)
        session = Session.objects.get(pk=key)
        return leases.claim(session, stage, timezone.now()) is not None

    return race([lambda key=key: one(key) for key in sessions], start)


def reserve_money(collection_id: int, cents: int, tries: int, start: float) -> int:
    """Return how many of `tries` reservations of `cents` succeeded."""
    from tasks.ledger import budget

    return race([lambda: budget.reserve(collection_id, cents)] * tries, start)


def race(attempts: list[Callable[[], bool]], start: float) -> int:
    """Return how many of the attempts, made in a thread each from `start` on, succeeded."""
    won: list[bool] = []

    def run(attempt: Callable[[], bool]) -> None:
        time.sleep(max(0.0, start - time.time()))
        try:
            won.append(attempt())
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=[attempt]) for attempt in attempts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == len(attempts), "an attempt failed with an error"
    return sum(won)


def hand_in_alike(lease_ids: list[int], texts: list[str], start: float) -> int:
    """Return how many of these leases' work, the same questions, was taken in.

    Half of the workers ask them in the opposite order, and each by a clock that runs backwards.
    """
    from tasks.models import Lease
    from tasks.work import submissions

    def one(key: int) -> bool:
        lease = Lease.objects.select_related(
            "unit__stage__collection", "session__posting", "worker"
        ).get(pk=key)
        asked = [
            {"item": "0", "text": text, "context": [{"start": 0, "end": 10}], "links": []}
            for text in texts[:: -1 if key % 2 else 1]
        ]
        now = lease.taken_at - timedelta(seconds=key)
        return submissions.hand_in(lease, {"questions": asked}, now, synthetic=False).counts

    return race([lambda key=key: one(key) for key in lease_ids], start)


def let_people_in(collection_id: int, people: list[str], start: float) -> int:
    """Return how many of these people, each in a thread, were new when they were let in."""
    from collector.models import Collection
    from tasks.people import trusted

    def one(person: str) -> bool:
        collection = Collection.objects.get(pk=collection_id)
        stages = trusted.qualifying(collection, "question_qualification")
        return bool(trusted.let_in(collection, stages, [person], "rita", timezone.now()))

    return race([lambda person=person: one(person) for person in people], start)
