"""Stops the processes of a supervisor that was killed; run as a script beside it.

Its standard input names the groups, `+PID` for one that begins and `-PID` for one that has ended;
when that is closed with groups left, whoever could have stopped them is dead.
"""

import os
import signal
import sys
import time
from contextlib import suppress

STOP_SECONDS = 10.0


def main() -> None:
    """Wait for the end of the input, then stop every group that is left."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin:
        change, group = line[0], int(line[1:])
        (groups.add if change == "+" else groups.discard)(group)
    # The first of each group tells its own: whoever is stopped beside it drops a job half-way.
    for group in groups:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(group, signal.SIGTERM)
    until = time.monotonic() + STOP_SECONDS
    while groups and time.monotonic() < until:
        time.sleep(0.1)
        groups = {group for group in groups if signal_groups({group}, 0)}
    signal_groups(groups, signal.SIGKILL)


def signal_groups(groups: set[int], number: int) -> bool:
    """Send a signal to these groups; return whether anybody was there."""
    found = False
    for group in groups:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
            found = True
    return found


if __name__ == "__main__":
    main()
