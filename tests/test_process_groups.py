"""A benchmark or rehearsal that fails, or is killed, leaves no process behind."""

import signal
import subprocess
import sys

import pytest

from tests.serving import ROOT

pytestmark = pytest.mark.pure
# A server that does not stop for the asking, with a child; both hold the output open.
STUBBORN = "import signal, subprocess; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
STUBBORN += "subprocess.run(['sleep', '600'])"
FAILING = f"""
import os, signal, sys
from pathlib import Path
from deploy.benchmarks import serving
serving.STOP_SECONDS, serving.httpx.get = 0.5, lambda *_, **__: None
with serving.running([sys.executable, "-c", {STUBBORN!r}], dict(os.environ), 1, Path(".")):
    how = sys.argv[1]
    os.kill(os.getpid(), signal.SIGKILL) if how == "killed" else sys.exit("It fails.")
"""


@pytest.mark.parametrize("how", ["fails", "killed"])
def test_a_benchmark_that_fails_stops_what_it_started(how: str, monkeypatch) -> None:
    # What goes on would hold the pipe, and this would wait for ten minutes.
    ended = subprocess.run(
        [sys.executable, "-c", FAILING, how], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == (-signal.SIGKILL if how == "killed" else 1), ended.stderr
