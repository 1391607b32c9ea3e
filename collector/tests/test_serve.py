"""Serving stops whole when a part of it ends, and says in one line what could not be prepared."""

import signal
import socket
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from collector.management.commands import serve
from collector.serving import CannotServeError, Plan, Process

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


def test_when_one_process_ends_all_are_stopped() -> None:
    assert serve._run(planned(ENDLESS, Process("short", ("python", "-c", "")))) == "short"


def test_who_asks_it_to_stop_is_obeyed() -> None:
    asking = "import os, signal; os.kill(os.getppid(), signal.SIGTERM); signal.pause()"
    assert serve._run(planned(ENDLESS, Process("asking", ("python", "-c", asking)))) == ""


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
