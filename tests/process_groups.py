"""Starts processes that never outlive the tests, rehearsals and benchmarks that need them."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from collector.serving.supervision import kill_group, watch

# By process: a fork of one that has begun others has a watch of its own.
_watches: "dict[int, subprocess.Popen[str]]" = {}


def begin(command: list[Any], **options: Any) -> "subprocess.Popen[Any]":
    """Start a process in a group of its own, which ends at the latest when this process does.

    However this one ends: what a test that fails, or is killed, leaves behind would go on for days.
    """
    process = subprocess.Popen(command, start_new_session=True, **options)
    _tell(f"+{process.pid}")
    return process


def end(process: "subprocess.Popen[Any]", seconds: float = 20) -> None:
    """Stop a process with all that it has started: gently, and after so long without asking."""
    kill_group(process.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    kill_group(process.pid, signal.SIGKILL)
    process.wait()
    _tell(f"-{process.pid}")


def family(pid: int) -> Iterator[int]:
    """Yield a process, then all that it has started, which are looked for after that."""
    yield pid
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in (thread / "children").read_text().split():
                yield from family(int(child))


def _tell(line: str) -> None:
    if os.getpid() not in _watches:
        _watches[os.getpid()] = watch()
    pipe = _watches[os.getpid()].stdin
    assert pipe
    print(line, file=pipe, flush=True)
