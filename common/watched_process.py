"""A reader at work in a process of its own, whatever it costs there: begun, watched, stopped."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from common.actions import ActionError, Broken

ROOT = Path(__file__).resolve().parent.parent
POLL_SECONDS = 1.0
SAY_SECONDS = 1.0
SHOWN = 300
# The exit code of a program that was asked for what it cannot do.
REFUSED = 2
PROGRESS, ERRORS = "progress.json", "errors"


class Said(NamedTuple):
    """What a reader is at, the share of it that is done, and how long the rest takes if known."""

    step: str
    share: float
    seconds_left: float | None


class ReaderDied(Broken):
    """The process ended without doing its work; the message says with what."""


class WatchedProcess:
    """Starts a program that works in `folder`, says there how far it is, and ends when we end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process: subprocess.Popen[bytes] | None = None

    def run(self, *arguments: str, **environment: str) -> None:
        """Start this Python with these arguments."""
        with (self.folder / ERRORS).open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=ROOT,
                # Closed when we end, however we end: then the process ends too.
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env={**os.environ, **environment},
            )

    def is_over(self, wait_seconds: float = POLL_SECONDS) -> bool:
        """Return whether it has ended, after waiting at most these seconds."""
        assert self.process is not None
        try:
            self.process.wait(wait_seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def progress(self) -> "Said":
        """Return what it says."""
        try:
            said = json.loads((self.folder / PROGRESS).read_text())
        except FileNotFoundError:
            return Said("Starting", 0.0, None)
        return Said(said["step"], said["share"], said["seconds_left"])

    def check(self) -> None:
        """Raise ReaderDied unless it has ended well, ActionError where it would refuse again."""
        assert self.process is not None
        if self.process.returncode:
            errors = (self.folder / ERRORS).read_text("utf-8", "replace").strip()
            last = errors.rpartition("\n")[2][:SHOWN]
            if self.process.returncode == REFUSED:
                raise ActionError(last)
            raise ReaderDied(f"code {self.process.returncode}: {last or 'it was killed'}")

    def stop(self) -> None:
        """End it if it still runs."""
        if self.process is not None:
            if self.process.poll() is None:
                self.process.kill()
            self.process.wait()
            if self.process.stdin:
                self.process.stdin.close()


class Progress:
    """What a watched process says: how far it is, about once a second."""

    def __init__(self, folder: Path, total: int = 0) -> None:
        self.path, self.total, self.said = folder / PROGRESS, total, 0.0
        # Of what it is at: how much there is, how much was done at first, and when that was.
        self.whole, self.first, self.since, self.done = 0, 0, 0.0, 0

    def __call__(self, step: str, done: int, total: int) -> None:
        """Hear what a reader is at."""
        now, whole = time.monotonic(), total or self.total
        if whole != self.whole or done < self.done:
            self.whole, self.first, self.since = whole, done, now
        self.done = done
        if now - self.said < SAY_SECONDS and done:
            return
        self.said = now
        made = done - self.first
        left = (now - self.since) * (whole - done) / made if made > 0 and whole else None
        said = Said(step, min(1.0, done / (whole or 1)), left)
        beside = self.path.with_suffix(".new")
        beside.write_text(json.dumps(said._asdict()))
        # A reader never finds half of it.
        beside.replace(self.path)


def end_with_parent(last: Callable[[], object] = lambda: None) -> None:
    """End this process at once when the holder of the other end of its input is gone.

    last: what is done then before the end.
    """
    threading.Thread(target=_wait_for_the_end, args=(last,), daemon=True).start()


def _wait_for_the_end(last: Callable[[], object]) -> None:
    # Not through sys.stdin, whose lock this thread would still hold when Python shuts down.
    while os.read(0, 1):
        pass
    last()
    os._exit(1)
