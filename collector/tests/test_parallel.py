"""Processes that help end with the one that they help."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

HELPED = """
import os, sys, time
from collector.processes import in_processes


def busy(seconds):
    return os.getpid()


if __name__ == "__main__":
    helpers = in_processes(1, busy, iter([0, 0, 0]))
    print(next(helpers), flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells a process of its parent's end")
def test_who_helps_ends_when_the_one_it_helps_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "helped.py"
    script.write_text(HELPED)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True, env=environment
    ) as helped:
        assert helped.stdout
        helper = int(helped.stdout.readline())
        os.kill(helped.pid, signal.SIGKILL)
    until = time.monotonic() + 20
    while _runs(helper) and time.monotonic() < until:
        time.sleep(0.05)
    assert not _runs(helper)


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
