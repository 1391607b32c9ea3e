"""Serving goes on when a part of it ends, leaves nothing behind, and says in one line what is."""

import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from collector.management.commands import serve
from collector.serving import supervision
from collector.serving.plan import CannotServeError, Plan, Process

ENDLESS = Process("endless", ("python", "-c", "import time; time.sleep(600)"))


@pytest.fixture(autouse=True)
def _signals() -> Iterator[None]:
    """Serving listens to signals; the tests' own process does so again afterwards."""
    kept = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


def planned(*processes: Process) -> Plan:
    """Return a plan that runs these."""
    return Plan({"DATABASE_URL": "postgres://a:p'$s@b/c"}, (), processes, ("127.0.0.1", ()), "")


@pytest.fixture
def said(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is said while processes run, in a home of their own and with pauses cut short."""
    settings.HOME = tmp_path
    monkeypatch.setattr(supervision, "FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(supervision, "POLL_SECONDS", 0.01)
    return []


def test_one_that_goes_on_dying_stops_all_and_each_death_is_one_line(said: list[str]) -> None:
    short = Process("short", ("python", "-c", "raise SystemExit(3)"))
    assert serve._run(planned(ENDLESS, short), said.append) == "short"
    assert said == [
        f"short has ended (exit code 3): it is started again in {pause:g} s."
        for pause in (0.01, 0.02, 0.04, 0.08)
    ]


def test_who_asks_it_to_stop_is_obeyed(said: list[str]) -> None:
    asking = "import os, signal; os.kill(os.getppid(), signal.SIGTERM); signal.pause()"
    assert (
        serve._run(planned(ENDLESS, Process("asking", ("python", "-c", asking))), said.append) == ""
    )
    assert said == []


def test_one_that_is_killed_is_started_again_with_all_that_it_had_started(
    said: list[str], tmp_path: Path
) -> None:
    """It holds a lock by a child of its own; then the second of it asks all to stop."""
    script = f"""
import fcntl, os, signal, subprocess, sys
lock = open({str(tmp_path / "lock")!r}, "w")
is_second = os.path.exists({str(tmp_path / "was_here")!r})
fcntl.flock(lock, fcntl.LOCK_EX)
if is_second:
    os.kill(os.getppid(), signal.SIGTERM)
    signal.pause()
open({str(tmp_path / "was_here")!r}, "w")
subprocess.Popen(["sleep", "600"], pass_fds=[lock.fileno()])
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert serve._run(planned(Process("one", ("python", "-c", script))), said.append) == ""
    assert said == ["one has ended (killed by SIGKILL): it is started again in 0.01 s."]


def test_when_the_supervisor_is_killed_nobody_is_left(tmp_path: Path) -> None:
    """Also what a process started itself; the pipe is closed when the last holder is gone."""
    script = """
import os, signal, subprocess, sys, threading
from collector.serving.supervision import Supervisor
threading.Timer(1, os.kill, (os.getpid(), signal.SIGKILL)).start()
held = {"stdin": subprocess.DEVNULL, "start_new_session": True}
Supervisor(print).run({name: lambda: subprocess.Popen(["sh", "-c", "sleep 600 & wait"], **held)
    for name in ("one", "two")})
"""
    began = time.monotonic()
    killed = subprocess.run(
        [sys.executable, "-c", script], cwd=Path(serve.__file__).parents[3], capture_output=True
    )
    assert (killed.returncode, killed.stderr) == (-signal.SIGKILL, b"")
    assert time.monotonic() - began < 60


def test_a_port_that_a_killed_predecessor_still_holds_is_waited_for() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        threading.Timer(0.2, other.close).start()
        serve._check_ports("127.0.0.1", (port,), 20)


def test_what_could_not_be_prepared_is_said_in_one_line() -> None:
    step = Process("ledger", ("python", "-c", r"raise SystemExit('No such host.\n\tIs it up?')"))
    with pytest.raises(CannotServeError) as refused:
        serve._prepare(step, planned())
    assert str(refused.value) == "The ledger could not be prepared: No such host."


def test_a_taken_port_is_refused() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(CannotServeError, match="set PORT to another"):
            serve._check_ports("127.0.0.1", (other.getsockname()[1],))


def test_the_settings_are_kept_for_the_owners_shell_alone(settings: Any, tmp_path: Path) -> None:
    settings.HOME = tmp_path
    path = serve._keep(planned())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text() == """DATABASE_URL='postgres://a:p'"'"'$s@b/c'\n"""
