"""Tells how much longer all took because it waited for a core of a machine that others use too."""

import os
from contextlib import suppress
from pathlib import Path

from tests.process_groups import family

# By thread: for how long it ran, and for how long it could have but waited, in nanoseconds.
CoreTimes = dict[int, tuple[int, int]]


def core_times() -> CoreTimes:
    """Return the times of every thread of this process and of all that it has started."""
    found = {}
    for pid in family(os.getpid()):
        # Some end while they are looked at.
        with suppress(OSError):
            for thread in Path(f"/proc/{pid}/task").iterdir():
                ran, waited, _ = map(int, (thread / "schedstat").read_text().split())
                found[int(thread.name)] = ran, waited
    return found


def stretch(before: CoreTimes, after: CoreTimes) -> float:
    """Return how many times as long it took as it would have on a machine with cores to spare."""
    ran = waited = 0
    for thread, (ran_until, waited_until) in after.items():
        ran_before, waited_before = before.get(thread, (0, 0))
        ran += ran_until - ran_before
        waited += waited_until - waited_before
    return (ran + waited) / ran if ran > 0 else 1.0
