"""Pairs who talk all the while whatever goes away, and newcomers who look for a partner."""

import asyncio
import contextlib
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tests.rehearsals import part_of
from tests.rehearsals.dialog_crowds import Crowd, Person, Plan
from tests.rehearsals.dialogs import HERE as ROWS
from tests.rehearsals.dialogs import LONG
from tests.rehearsals.served_site import Served
from tests.serving import Instance

# So many talk all the time; others come when a fault begins, and again when it is over, and stay
# for a while.
REGULARS = 2 * part_of(6)
NEWCOMERS, NEWCOMERS_A_SECOND, NEWCOMERS_SECONDS = 4, 2.0, 120
MOST_FAULTS = 26
HOUR = 3600
# Nobody comes to an end within an hour of faults.
TALK = {
    **LONG,
    "dialog.max_questions": 1000,
    "dialog.allotted_minutes": 20_000,
    "dialog.grace_seconds": 3 * HOUR,
    "dialog.ready_seconds": 3 * HOUR,
}


class Talkers:
    """Pairs who talk all the time, who connect again whenever they are cut off, and newcomers."""

    def __init__(self, site: Served, instance: Instance) -> None:
        """Lay out what they talk about; there are people enough for every fault."""
        self.instance = instance
        n_people = REGULARS + 2 * MOST_FAULTS * NEWCOMERS
        self.tokens = instance.call(f"{ROWS}:lay_out", n_people, n_people // 2 + 2, TALK)
        instance.call(f"{ROWS}:leave_to_sockets", "talk")
        address = f"ws://127.0.0.1:{site.port + 2}/hit/socket"
        self._plan = Plan(address, site.settings()["COLLECTOR_URL"], seed=-1)
        self.newcomers: list[Person] = []
        self.threads: list[threading.Thread] = []

    @contextlib.contextmanager
    def talking(self) -> Iterator[None]:
        """Have the regulars talk meanwhile."""
        plan = replace(self._plan, every_seconds=1.0)
        self.regulars = Crowd(self.instance, self._next(REGULARS), plan)
        try:
            yield
        finally:
            self.regulars.close_pages()
            for thread in self.threads:
                thread.join(timeout=NEWCOMERS_SECONDS)

    def come(self) -> None:
        """Have newcomers come, one after the other."""
        until = time.time() + NEWCOMERS_SECONDS
        plan = replace(
            self._plan,
            begin=time.time(),
            rate=NEWCOMERS_A_SECOND,
            until=until,
            # Nobody's messages have the ids of another's.
            seed=len(self.tokens),
        )
        people = [Person(token, n, plan) for n, token in enumerate(self._next(NEWCOMERS))]
        self.newcomers += people

        async def attend() -> None:
            await asyncio.gather(*(person.attend() for person in people))

        self.threads.append(threading.Thread(target=lambda: asyncio.run(attend())))
        self.threads[-1].start()

    def seen(self) -> list[dict[str, Any]]:
        """Return what everybody's page saw, once all have gone."""
        return [*self.regulars.seen(), *(vars(person.seen) for person in self.newcomers)]

    def _next(self, n_people: int) -> list[str]:
        tokens, self.tokens = self.tokens[:n_people], self.tokens[n_people:]
        return tokens
