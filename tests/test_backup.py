"""A home of SQLite files is kept up to date elsewhere by a command, and put back by another."""

import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from deploy.backup import Backup
from deploy.copies import MOMENT, BackupError, copies_in, remove_old, site_of
from tests import process_groups
from tests.serving import ROOT, SETTINGS

NAMES = ("collector.sqlite3", "marketplace.sqlite3")
BACKUP, RESTORE = ([sys.executable, "-m", f"deploy.{verb}"] for verb in ("backup", "restore"))
MOST_SECONDS = 5.0


def environment(home: Path, **given: str) -> dict[str, str]:
    """Return the variables of a site in this home, with releases beside it."""
    kept = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    releases = str(home.with_name(f"{home.name}-releases"))
    return {**kept, "COLLECTOR_HOME": str(home), "RELEASES": releases, **given}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a home with two databases and a key."""
    folder = tmp_path / "home"
    folder.mkdir()
    make_databases(folder)
    (folder / "secret_key").write_text("hush")
    (folder / "secret_key").chmod(0o600)
    return folder


@pytest.fixture
def backups(tmp_path: Path) -> Path:
    """Return where the copies go."""
    return tmp_path / "backups"


@pytest.fixture
def backup(home: Path, backups: Path) -> Backup:
    """Return a backup of the home that has looked once."""
    made = Backup(site_of(environment(home)), backups, 7)
    made.look()
    return made


def make_databases(folder: Path) -> None:
    """Make two databases without a row."""
    for name in NAMES:
        with closing(sqlite3.connect(folder / name)) as database:
            database.execute("PRAGMA journal_mode=WAL")
            database.execute("CREATE TABLE written (number integer)")


def write(home: Path, number: int) -> None:
    """Write a number into the one database, then into the other."""
    for name in NAMES:
        with closing(sqlite3.connect(home / name, timeout=30)) as database, database:
            database.execute("INSERT INTO written VALUES (?)", [number])


def written(folder: Path) -> list[int]:
    """Return how many numbers each database has."""
    found = []
    for name in NAMES:
        with closing(sqlite3.connect(folder / name)) as database:
            [(number,)] = database.execute("SELECT count(*) FROM written")
            found.append(number)
    return found


def last(backups: Path) -> Path:
    """Return the newest copy."""
    return copies_in(backups)[-1]


def call(command: list[str], *words: object, **given: str) -> subprocess.CompletedProcess[str]:
    """Return what a command said that has ended."""
    home = Path(given.pop("COLLECTOR_HOME"))
    return subprocess.run(
        [*command, *map(str, words)],
        env=environment(home, **given),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def restored(backups: Path, home: Path, *when: object) -> Path:
    """Return a home that was put back."""
    done = call(RESTORE, backups, *when, COLLECTOR_HOME=str(home))
    assert done.returncode == 0, done.stderr
    return home


def refused(backups: Path, home: Path, *when: object) -> str:
    """Return why nothing was put back, in one line."""
    before = sorted(home.rglob("*"))
    done = call(RESTORE, backups, *when, COLLECTOR_HOME=str(home))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1, done.stderr
    assert sorted(home.rglob("*")) == before
    return done.stderr


def test_both_databases_are_of_one_moment_while_they_are_written(
    home: Path, backup: Backup, backups: Path
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
            backup.look()
            one, other = written(last(backups) / "databases")
            assert one - other in (0, 1)
    finally:
        ended.set()
        writer.join()
    assert written(home)[0] > 20


@pytest.fixture
def running(home: Path, backups: Path) -> Iterator[None]:
    """Have the command keep copies."""
    command = [*BACKUP, str(backups)]
    process = process_groups.begin(command, env=environment(home), cwd=ROOT)
    yield
    process_groups.end(process)


@pytest.mark.usefixtures("running")
def test_what_is_written_is_in_the_backup_five_seconds_later_and_comes_back(
    home: Path, backups: Path, tmp_path: Path
) -> None:
    wait_for(backups, [0, 0], 30)
    write(home, 1)
    (home / "requester.json").write_text("{}")
    test = tmp_path / "home-releases" / "pilot" / "qrels" / "test.tsv"
    test.parent.mkdir(parents=True)
    test.write_text("released")
    wait_for(backups, [1, 1], MOST_SECONDS + 1)
    until = time.monotonic() + MOST_SECONDS
    while not (last(backups) / "releases" / "pilot" / "qrels" / "test.tsv").exists():
        assert time.monotonic() < until
        time.sleep(0.1)
    there = restored(backups, tmp_path / "elsewhere" / "there")
    assert written(there) == [1, 1]
    assert (there / "secret_key").stat().st_mode & 0o777 == 0o600
    assert (there / "requester.json").read_text() == "{}"
    released = tmp_path / "elsewhere" / "there-releases" / "pilot" / "qrels" / "test.tsv"
    assert released.read_text() == "released"


@pytest.mark.usefixtures("running")
def test_copying_goes_on_when_the_databases_are_replaced_under_it(
    home: Path, backups: Path, tmp_path: Path
) -> None:
    wait_for(backups, [0, 0], 30)
    other = tmp_path / "other"
    other.mkdir()
    make_databases(other)
    write(other, 1)
    write(other, 2)
    for name in NAMES:
        (other / name).replace(home / name)
    wait_for(backups, [2, 2], MOST_SECONDS + 1)
    write(home, 3)
    wait_for(backups, [3, 3], MOST_SECONDS + 1)


def test_databases_anywhere_and_of_any_name_are_copied_and_come_back_to_their_own_place(
    home: Path, backups: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "lab.db"
    (home / NAMES[0]).replace(elsewhere)
    named = {"DATABASE_URL": f"sqlite:///{elsewhere}"}
    Backup(site_of(environment(home, **named)), backups, 7).look()
    assert written(last(backups) / "databases") == [0, 0]
    there = restored(backups, tmp_path / "there")
    assert written(there) == [0, 0]


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("", "There is no database at "),
        ("sqlite:////nowhere/collector.sqlite3", "There is no database at /nowhere/collector.sq"),
        ("postgre://lab/collector", "DATABASE_URL: "),
        ("postgres://lab/collector", "name two servers"),
    ],
)
def test_a_backup_of_nothing_is_refused_and_has_no_time(
    home: Path, backups: Path, address: str, said: str
) -> None:
    (home / NAMES[0]).unlink()
    given = {"DATABASE_URL": address, "MARKETPLACE_DATABASE_URL": f"sqlite:///{home / NAMES[1]}"}
    done = call(BACKUP, backups, COLLECTOR_HOME=str(home), **given)
    assert done.returncode == 1
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert not backups.exists()


@pytest.mark.parametrize("damage", ["lost", "empty", "broken"])
def test_what_is_no_database_any_more_gives_no_copy_and_no_new_time(
    home: Path, backup: Backup, backups: Path, damage: str
) -> None:
    kept, as_of = copies_in(backups), (backups / "as-of").read_text()
    (backups / "as-of").write_text(as_of.replace("UTC", "then"))
    path = home / NAMES[1]
    if damage == "broken":
        with closing(sqlite3.connect(path)) as database, database:
            database.executemany("INSERT INTO written VALUES (?)", [[n] for n in range(5000)])
        with path.open("r+b") as file:
            file.seek(8192)
            file.write(b"\xff" * 4096)
    else:
        path.unlink()
        if damage == "empty":
            path.touch()
    with pytest.raises((BackupError, sqlite3.DatabaseError)):
        backup.look()
    assert copies_in(backups) == kept
    assert "then" in (backups / "as-of").read_text()


@pytest.mark.parametrize("kept", ["0", "7d", "seven", "-1", "²"])
def test_a_number_that_would_keep_no_copy_is_refused(home: Path, backups: Path, kept: str) -> None:
    done = call(BACKUP, backups, COLLECTOR_HOME=str(home), BACKUPS_KEPT=kept)
    assert done.returncode == 1
    assert f"BACKUPS_KEPT={kept}: write for how many days copies are kept" in done.stderr


def test_what_the_home_has_let_go_is_in_no_copy_after_that(
    home: Path, backup: Backup, backups: Path, tmp_path: Path
) -> None:
    raw = home / "uploads" / "ab12" / "diary.txt"
    raw.parent.mkdir(parents=True)
    raw.write_text("confidential")
    half = home / "releases" / ".pilot.ab12cd34" / "train.json"
    half.parent.mkdir(parents=True)
    half.write_text("{")
    backup.look()
    assert (last(backups) / "home" / "uploads" / "ab12" / "diary.txt").exists()
    raw.unlink()
    backup.look()
    there = restored(backups, tmp_path / "there")
    left = {path.name for path in there.rglob("*") if path.is_file()}
    assert left == {*NAMES, "secret_key"}


@pytest.mark.parametrize(
    ("hours", "problems", "is_due"),
    [(None, [], True), (23, [], False), (25, [], True), (0.5, ["x."], False), (1.5, ["x."], True)],
)
def test_a_fresh_copy_is_restored_each_day_and_each_hour_where_that_failed(
    backup: Backup,
    backups: Path,
    monkeypatch: pytest.MonkeyPatch,
    hours: float | None,
    problems: list[str],
    is_due: bool,
) -> None:
    if hours is not None:
        told = {"at": time.time() - hours * 3600, "seconds": 1, "problems": problems}
        (backups / "drill.json").write_text(json.dumps(told))
    left = backups / ".drill-killed"
    left.mkdir()
    begun: list[list[str]] = []
    monkeypatch.setattr("deploy.backup.subprocess.Popen", begun.append)
    before = last(backups)
    backup.restore_daily()
    assert [words[-2:] for words in begun] == ([[str(backups), last(backups).name]] * is_due)
    assert (last(backups) != before) == is_due
    assert left.exists() != is_due


def test_a_copy_that_is_being_restored_stays(home: Path, backup: Backup, backups: Path) -> None:
    first, place = last(backups), backups / ".drill-now"
    place.mkdir()
    for number in range(4):
        write(home, number)
        backup.look()
    assert first.exists()
    place.rmdir()
    write(home, 5)
    backup.look()
    assert not first.exists()
    assert len(copies_in(backups)) == 2


def test_the_home_is_told_until_when_all_is_kept_and_why_not(home: Path, backup: Backup) -> None:
    told = json.loads((home / "backup.json").read_text())
    assert time.time() - 60 < told["as_of"] < time.time() < told["stale_at"]
    assert (told["problem"], told["drill"]) == ("", {})
    (home / NAMES[0]).unlink()
    with pytest.raises(BackupError):
        backup.look()
    after = json.loads((home / "backup.json").read_text())
    assert after["as_of"] == told["as_of"]
    assert after["problem"].startswith("There is no database at ")


def test_what_has_not_changed_is_not_kept_twice(home: Path, backup: Backup, backups: Path) -> None:
    write(home, 1)
    backup.look()
    one, other = (copy / "home" / "secret_key" for copy in copies_in(backups))
    assert one.samefile(other)
    assert not one.samefile(home / "secret_key")
    time.sleep(1.1)
    backup.look()
    number = len(copies_in(backups))
    backup.look()
    assert len(copies_in(backups)) == number


def dated(copy: Path, at: datetime) -> Path:
    """Return a copy that was made at another time."""
    return copy.rename(copy.with_name(at.strftime(MOMENT)))


def test_a_copy_of_yesterday_and_one_of_a_point_in_time_come_back(
    home: Path, backup: Backup, backups: Path, tmp_path: Path
) -> None:
    yesterday = datetime.now(UTC) - timedelta(days=1)
    for number in (1, 2, 3):
        dated(last(backups), yesterday - timedelta(days=3 - number))
        write(home, number)
        backup.look()
    assert written(restored(backups, tmp_path / "newest")) == [3, 3]
    assert written(restored(backups, tmp_path / "by-name", copies_in(backups)[0].name)) == [0, 0]
    at = (yesterday + timedelta(hours=1)).isoformat()
    assert written(restored(backups, tmp_path / "yesterday", at)) == [2, 2]


def test_copies_are_kept_for_days_the_last_of_each_and_the_newest_two(
    backup: Backup, backups: Path
) -> None:
    now = datetime.now(UTC).replace(hour=12)
    first = dated(last(backups), now - timedelta(days=9, hours=1))
    hours = [now - timedelta(days=9), *(now - timedelta(hours=h) for h in (50, 49, 2, 1, 0))]
    for at in hours:
        (first.with_name(at.strftime(MOMENT))).mkdir()
    remove_old(backups, 7, alike=10)
    kept = [copy.name for copy in copies_in(backups)]
    assert kept == [hours[n].strftime(MOMENT) for n in (0, 2, 4, 5)]


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "a database is missing": (lambda c: (c / "databases" / NAMES[0]).unlink(), "is missing"),
    "both databases are missing": (
        lambda c: [path.unlink() for path in (c / "databases").iterdir()],
        "is missing",
    ),
    "a byte of a database has flipped": (
        lambda c: _flip(c / "databases" / NAMES[1]),
        "is not what was copied",
    ),
    "a database was cut off": (
        lambda c: os.truncate(c / "databases" / NAMES[0], 4096),
        "is not what was copied",
    ),
    "a database is empty": (
        lambda c: os.truncate(c / "databases" / NAMES[0], 0),
        "is not what was copied",
    ),
    "one half is of another copy": (
        lambda c: os.replace(
            c.parent / "2026-01-01T00-00-00.000000Z" / "databases" / NAMES[1],
            c / "databases" / NAMES[1],
        ),
        "is not what was copied",
    ),
    "a file is missing": (lambda c: (c / "home" / "secret_key").unlink(), "is missing"),
    "a byte of a file has flipped": (lambda c: _flip(c / "home" / "secret_key"), "is not what"),
    "the list is missing": (lambda c: (c / "digests.json").unlink(), "cannot be read"),
    "the list was cut off": (lambda c: os.truncate(c / "digests.json", 50), "cannot be read"),
    "the list is of something else": (
        lambda c: (c / "digests.json").write_text("[]"),
        "cannot be read",
    ),
}


def _flip(path: Path) -> None:
    found = bytearray(path.read_bytes())
    found[len(found) // 2] ^= 1
    # A link to the file of the copy before is cut: the disk has one block of it.
    path.unlink()
    path.write_bytes(found)


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_copy_is_refused_in_a_sentence_and_the_one_before_comes_back(
    home: Path, backup: Backup, backups: Path, tmp_path: Path, kind: str
) -> None:
    earlier = dated(last(backups), datetime(2026, 1, 1, tzinfo=UTC))
    write(home, 1)
    backup.look()
    damage, said = BROKEN[kind]
    whole = tmp_path / "whole"
    subprocess.run(["cp", "-a", earlier, whole], check=True)
    damage(last(backups))
    there = tmp_path / "there"
    assert said in (words := refused(backups, there))
    assert "Name the time of an earlier copy" in words
    subprocess.run(["rm", "-r", earlier], check=True)
    whole.rename(earlier)
    assert written(restored(backups, there, earlier.name)) == [0, 0]


def test_what_is_no_copy_is_refused_in_a_sentence(
    home: Path, backup: Backup, backups: Path, tmp_path: Path
) -> None:
    there = tmp_path / "there"
    assert "There is no copy in" in refused(tmp_path / "nowhere", there)
    assert "There is no copy of 2020-01-01" in refused(backups, there, "2020-01-01")
    assert "'yesterday' is no time" in refused(backups, there, "yesterday")
    (backups / "copies" / ".new").mkdir()
    last(backups).rename(backups / "copies" / ".new" / "half")
    assert "There is no copy in" in refused(backups, there)


def test_nothing_is_put_over_a_home_that_is_in_use(
    home: Path, backup: Backup, backups: Path
) -> None:
    assert "move it away first" in refused(backups, home)


def test_backups_are_not_kept_inside_of_what_they_copy(home: Path) -> None:
    done = call(BACKUP, home / "backups", COLLECTOR_HOME=str(home))
    assert "name a folder elsewhere" in done.stderr
    assert not (home / "backups").exists()


def wait_for(backups: Path, wanted: list[int], seconds: float) -> None:
    """Wait until a copy has this many numbers."""
    until = time.monotonic() + seconds
    while not copies_in(backups) or written(last(backups) / "databases") != wanted:
        assert time.monotonic() < until
        time.sleep(0.1)
