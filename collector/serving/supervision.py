"""Keeps processes running: one that ends is started again, and none outlives its supervisor.

Run as a script, it is the process that stops those of a supervisor that was killed; it imports the
standard library alone.
"""

import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

# A process is started again after a pause, which doubles while it goes on dying.
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.5, 8.0
# One that dies so often within so long cannot run here.
MOST_DEATHS, WITHIN_SECONDS = 5, 60.0
STOP_SECONDS, ORPHAN_STOP_SECONDS = 20.0, 10.0
POLL_SECONDS = 0.2

Start = Callable[[], "subprocess.Popen[Any]"]


class Supervised:
    """One process: how it is started, and when it died lately."""

    def __init__(self, name: str, start: Start) -> None:
        self.name, self.start = name, start
        self.running: subprocess.Popen[Any] | None = None
        self.deaths: deque[float] = deque(maxlen=MOST_DEATHS)
        self.begin_at = 0.0

    def bury(self, now: float) -> str:
        """Note that it has ended, and return what to say; it is to begin again after a pause."""
        assert self.running
        code = self.running.returncode
        how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        self.running = None
        self.deaths.append(now)
        lately = sum(now - at < WITHIN_SECONDS for at in self.deaths)
        pause = min(FIRST_PAUSE_SECONDS * 2 ** (lately - 1), LONGEST_PAUSE_SECONDS)
        self.begin_at = now + pause
        return f"{self.name} has ended ({how}): it is started again in {pause:g} s."

    def cannot_run(self, now: float) -> bool:
        """Return whether it has died so often lately that starting it again is of no use."""
        return len(self.deaths) == MOST_DEATHS and now - self.deaths[0] < WITHIN_SECONDS


class Supervisor:
    """Runs processes, each in a group of its own, until it is asked to stop.

    A process beside them, this file run as a script, stops every group if the supervisor is killed.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        """Make one that says in one line each what happens."""
        self.say = say
        self.asked = False
        self.watch: subprocess.Popen[str] | None = None

    def run(self, starts: Mapping[str, Start]) -> str:
        """Run until asked to stop by a signal, or one cannot run: return its name, or ""."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: setattr(self, "asked", True))
        every = [Supervised(name, start) for name, start in starts.items()]
        try:
            while not self.asked:
                if failed := self._look_at(every, time.monotonic()):
                    return failed
                time.sleep(POLL_SECONDS)
            return ""
        finally:
            self._stop([one.running for one in every if one.running])

    def _look_at(self, every: list[Supervised], now: float) -> str:
        """Start what is to be started; return the name of one that cannot run, else ""."""
        if self.watch is None or self.watch.poll() is not None:
            self.watch = watch()
            for pid in [one.running.pid for one in every if one.running]:
                self._tell(f"+{pid}")
        for one in every:
            if one.running is None and now >= one.begin_at:
                one.running = one.start()
                self._tell(f"+{one.running.pid}")
            elif one.running is not None and one.running.poll() is not None:
                # What it started itself may hold its port still.
                kill_group(one.running.pid, signal.SIGKILL)
                self._tell(f"-{one.running.pid}")
                said = one.bury(now)
                if one.cannot_run(now):
                    return one.name
                self.say(said)
        return ""

    def _tell(self, line: str) -> None:
        assert self.watch
        assert self.watch.stdin
        # One that has been killed is replaced at the next look.
        with suppress(BrokenPipeError):
            print(line, file=self.watch.stdin, flush=True)

    def _stop(self, running: list[Any]) -> None:
        """Stop every process gently, and kill the groups that do not obey; then the watch ends."""
        for one in running:
            one.terminate()
        until = time.monotonic() + STOP_SECONDS
        for one in running:
            with suppress(subprocess.TimeoutExpired):
                one.wait(max(0.1, until - time.monotonic()))
            kill_group(one.pid, signal.SIGKILL)
            one.wait()
            self._tell(f"-{one.pid}")
        if self.watch is not None:
            with suppress(BrokenPipeError):
                self.watch.communicate()


def watch() -> "subprocess.Popen[str]":
    """Start what stops the groups named to it, `+PID`, once this process has ended, however."""
    return subprocess.Popen(
        [sys.executable, "-S", "-E", __file__],
        stdin=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def kill_group(group: int, number: signal.Signals) -> None:
    """Send a signal to the processes that are left of a group."""
    # macOS says that it is not permitted where only ended processes are left.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def stop_orphans() -> None:
    """Wait for the end of standard input, then stop every group of processes that is left.

    The input names the groups, `+PID` for one that begins and `-PID` for one that has ended. It is
    closed with groups left where the supervisor, who could have stopped them, was killed.
    """
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin:
        change, group = line[0], int(line[1:])
        (groups.add if change == "+" else groups.discard)(group)
    # The first of each group tells its own: a process stopped beside it drops a job half-way.
    for group in groups:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(group, signal.SIGTERM)
    until = time.monotonic() + ORPHAN_STOP_SECONDS
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
    stop_orphans()
