"""A home of SQLite files is kept up to date elsewhere by a script, and put back by another."""

import os
import sqlite3
import subprocess
import threading
import time
from pathlib import Path

import pytest

from deploy import sqlite_backup
from tests import process_groups
from tests.serving import ROOT

NAMES = ("collector.sqlite3", "marketplace.sqlite3")
BACKUP, RESTORE = (str(ROOT / "deploy" / f"{verb}.sh") for verb in ("backup", "restore"))
MOST_SECONDS = 5.0


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a home with two databases and a key."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name in NAMES:
        with sqlite3.connect(folder / name) as database:
            database.execute("PRAGMA journal_mode=WAL")
            database.execute("CREATE TABLE written (number integer)")
    (folder / "secret_key").write_text("hush")
    (folder / "secret_key").chmod(0o600)
    return folder


def write(home: Path, number: int) -> None:
    """Write a number into the one database, then into the other."""
    for name in NAMES:
        database = sqlite3.connect(home / name, timeout=30)
        with database:
            database.execute("INSERT INTO written VALUES (?)", [number])
        database.close()


def written(home: Path) -> list[int]:
    """Return how many numbers each database has."""
    count = "SELECT count(*) FROM written"
    return [sqlite3.connect(home / name).execute(count).fetchone()[0] for name in NAMES]


def restored(tmp_path: Path, into: str) -> Path:
    """Return a home that was put back from the backups."""
    home = tmp_path / into
    releases = tmp_path / f"{into}-releases"
    environment = {**os.environ, "COLLECTOR_HOME": str(home), "RELEASES": str(releases)}
    command = ["sh", RESTORE, str(tmp_path / "backups")]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    return home


def test_both_databases_are_of_one_moment_while_they_are_written(
    home: Path, tmp_path: Path
) -> None:
    ended = threading.Event()

    def write_on() -> None:
        number = 0
        while not ended.is_set():
            number += 1
            write(home, number)

    writer = threading.Thread(target=write_on)
    writer.start()
    try:
        for _ in range(20):
            sqlite_backup.back_up(home, tmp_path / "backups")
            one, other = written(tmp_path / "backups" / "databases" / "last")
            assert one - other in (0, 1)
    finally:
        ended.set()
        writer.join()
    assert written(home)[0] > 20


def test_what_is_written_is_in_the_backup_five_seconds_later_and_comes_back(
    home: Path, tmp_path: Path
) -> None:
    releases = tmp_path / "releases"
    (releases / "pilot" / "qrels").mkdir(parents=True)
    environment = {
        **os.environ,
        "COLLECTOR_HOME": str(home),
        "RELEASES": str(releases),
        "DATABASE_URL": "",
    }
    command = ["sh", BACKUP, str(tmp_path / "backups")]
    process = process_groups.begin(command, env=environment, cwd=ROOT)
    try:
        last = tmp_path / "backups" / "databases" / "last"
        wait_for(last, [0, 0], 30)
        write(home, 1)
        (home / "requester.json").write_text("{}")
        (releases / "pilot" / "qrels" / "test.tsv").write_text("released")
        wait_for(last, [1, 1], MOST_SECONDS + 1)
        until = time.monotonic() + MOST_SECONDS
        # The files are copied after the databases.
        while not (tmp_path / "backups" / "releases" / "pilot" / "qrels" / "test.tsv").exists():
            assert time.monotonic() < until
            time.sleep(0.1)
    finally:
        process_groups.end(process)
    there = restored(tmp_path, "there")
    assert written(there) == [1, 1]
    assert (there / "secret_key").stat().st_mode & 0o777 == 0o600
    assert (there / "requester.json").read_text() == "{}"
    released = tmp_path / "there-releases" / "pilot" / "qrels" / "test.tsv"
    assert released.read_text() == "released"


def test_nothing_is_put_over_a_home_that_is_in_use(home: Path, tmp_path: Path) -> None:
    sqlite_backup.back_up(home, tmp_path / "backups")
    with pytest.raises(subprocess.CalledProcessError) as refused:
        restored(tmp_path, "home")
    assert b"move it away first" in refused.value.stderr


@pytest.mark.parametrize("kept", ["0", "7d", "seven", "-1", "07"])
def test_a_number_that_would_keep_no_copy_is_refused(home: Path, tmp_path: Path, kept: str) -> None:
    environment = {**os.environ, "COLLECTOR_HOME": str(home), "BACKUPS_KEPT": kept}
    refused = subprocess.run(
        ["sh", BACKUP, str(tmp_path / "backups")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert refused.returncode == 1
    assert f"BACKUPS_KEPT={kept}: write how many copies are kept, 1 or more." in refused.stderr


def test_backups_are_not_kept_inside_of_what_they_copy(home: Path, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="name a folder elsewhere"):
        sqlite_backup.main(home, tmp_path / "releases", home / "backups")
    assert not (home / "backups").exists()


def wait_for(last: Path, wanted: list[int], seconds: float) -> None:
    """Wait until a copy has this many numbers."""
    until = time.monotonic() + seconds
    while not last.exists() or written(last) != wanted:
        assert time.monotonic() < until
        time.sleep(0.1)
