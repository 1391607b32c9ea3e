"""A command on an empty home says what to do in one line; every other error stays what it is."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import OperationalError

from common import command_line
from common.command_line import run_command

ROOT = Path(__file__).resolve().parents[2]


def refused(home: Path, *words: str, **settings: str) -> str:
    """Return the one line with which a command on this home ends."""
    ended = subprocess.run(
        [sys.executable, "manage.py", *words],
        env={"COLLECTOR_HOME": str(home), "PATH": os.environ["PATH"], **settings},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert ended.stdout == ""
    (line,) = ended.stderr.splitlines()
    return line


@pytest.mark.parametrize(
    "words", [("report", "pilot"), ("serve", "--prepare"), ("createsuperuser", "--noinput")]
)
def test_no_command_of_a_server_that_lost_its_database_works_on_a_new_one(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    line = refused(tmp_path / "home", *words, REDIS_URL="redis://127.0.0.1:1")
    assert "DATABASE_URL='postgres://…', in quotes" in line
    assert list(tmp_path.iterdir()) == []


def test_an_empty_home_is_said_to_be_one(tmp_path: Path) -> None:
    line = refused(tmp_path / "new", "report", "pilot")
    assert line.startswith("Nothing is set up in the database yet, or not all of it. First: ")
    assert ".venv/bin/python manage.py run" in line


@pytest.mark.parametrize(
    ("said", "explained"),
    [
        ("no such table: collector_corpus", "First: make run"),
        ("database is locked", "Another process has been writing"),
    ],
)
def test_what_is_not_there_and_what_does_not_answer_are_told_apart(
    monkeypatch: pytest.MonkeyPatch, said: str, explained: str
) -> None:
    def fail(arguments: list[str]) -> None:
        raise OperationalError(said)

    monkeypatch.setattr(command_line, "execute_from_command_line", fail)
    with pytest.raises(SystemExit, match=explained):
        run_command(["manage.py"], "collector.settings", "make run")
