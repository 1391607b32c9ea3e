"""A home is served once at a time: who comes second is told by whom, and changes nothing."""

import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from collector.home_lock import FILE, HomeServedError, locked_home
from collector.management.commands import demo, run, serve

HOLDER = """
import sys
from pathlib import Path
from collector.home_lock import locked_home
with locked_home(Path(sys.argv[1]), "http://localhost:8000", 8000):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(settings: Any, tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """Another process that serves this home."""
    settings.HOME = tmp_path
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        cwd=settings.BASE_DIR,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


@pytest.mark.parametrize("command", ["run", "serve", "demo"])
def test_a_second_one_says_who_holds_the_home_and_changes_nothing(
    holder: "subprocess.Popen[str]",
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
) -> None:
    for name, value in {
        "DOMAIN": "lab.example",
        "DATABASE_URL": "postgres://ada@localhost/lab",
        "MARKETPLACE_DATABASE_URL": "postgres://ada@localhost/marketplace",
        "REDIS_URL": "redis://localhost:1/0",
    }.items():
        monkeypatch.setenv(name, value)
    for module in (run, demo):
        monkeypatch.setattr(module, "prepare", lambda: pytest.fail("it prepared the home"))
    monkeypatch.setattr(serve, "_prepare", lambda *_: pytest.fail("it prepared the home"))
    before = {path: path.read_text() for path in tmp_path.iterdir()}
    told = rf"served by process {holder.pid} at http://localhost:8000 already: stop that first"
    with pytest.raises(CommandError, match=told):
        call_command(command)
    assert {path: path.read_text() for path in tmp_path.iterdir()} == before


def test_who_was_killed_holds_nothing_any_more_and_the_next_one_knows(
    holder: "subprocess.Popen[str]", tmp_path: Path
) -> None:
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with locked_home(tmp_path, "http://localhost:8001") as was_cut_off:
        assert was_cut_off
    with locked_home(tmp_path, "http://localhost:8001") as was_cut_off:
        assert not was_cut_off
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600


def test_who_was_refused_takes_nothing_from_the_holder(
    holder: "subprocess.Popen[str]", tmp_path: Path
) -> None:
    for _ in range(2):
        with pytest.raises(HomeServedError), locked_home(tmp_path, "http://localhost:8001"):
            pass
    assert (tmp_path / FILE).read_text().split() == [
        str(holder.pid),
        "http://localhost:8000",
        "8000",
    ]
