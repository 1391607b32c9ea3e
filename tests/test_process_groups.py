"""A benchmark or rehearsal that fails, or is killed, leaves no process behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.rehearsals.deployed_processes import wait_until
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


REHEARSING = """
import os, signal, sys
from tests.rehearsals import restartable_services, small_disk
# A shell that runs the tests in the background has them ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
with small_disk.small_disk("20m") as disk, restartable_services.redis() as redis:
    print(disk, redis.process.pid, flush=True)
    how = int(sys.argv[1])
    if not how:
        # What hangs is ended as well.
        os.killpg(redis.process.pid, signal.SIGSTOP)
        sys.exit("It fails.")
    os.kill(os.getpid(), how)
    signal.pause()
"""


@pytest.mark.parametrize("how", [0, signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_rehearsal_that_ends_early_leaves_no_service_and_no_disk(how: int) -> None:
    command = [sys.executable, "-c", REHEARSING, str(int(how))]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert ended.returncode != 0
    disk, redis = ended.stdout.split()
    is_gone = wait_until(lambda: not Path(disk).exists() and not is_running(int(redis)), 20)
    assert is_gone, (os.path.ismount(disk), is_running(int(redis)))


def is_running(pid: int) -> bool:
    """Return whether there is such a process, other than one that nobody has buried."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
