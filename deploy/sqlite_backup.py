"""Keeps a folder a few seconds behind SQLite files: sqlite_backup.py HOME RELEASES FOLDER.

FOLDER/databases/last has both databases as one moment saw them, FOLDER/files the rest of the home,
FOLDER/releases the releases. They are copied anew when they have changed: every five seconds, and
where a copy takes longer than half a second, so seldom that copying takes a tenth of the time.
"""

import shutil
import sqlite3
import sys
import time
from contextlib import ExitStack, closing, suppress
from datetime import UTC, datetime
from pathlib import Path

SECONDS, SHARE = 5.0, 0.1
BUSY_SECONDS = 30.0
OF_DATABASES = (".sqlite3", ".sqlite3-wal", ".sqlite3-shm", ".sqlite3-journal")


def databases_of(home: Path) -> list[Path]:
    """Return the databases of a home."""
    return sorted(home.glob("*.sqlite3"))


def snapshot(databases: list[Path], to: Path) -> None:
    """Copy databases into a folder as one and the same moment saw them.

    Nobody writes for the few milliseconds in which the reading of all of them begins.
    """
    with ExitStack() as opened:

        def connect(path: Path) -> sqlite3.Connection:
            connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
            return opened.enter_context(closing(connection))

        writers = [connect(path) for path in databases]
        for writer in writers:
            writer.execute("BEGIN IMMEDIATE")
        readers = [connect(path) for path in databases]
        for reader in readers:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
        for writer in writers:
            writer.execute("ROLLBACK")
        for path, reader in zip(databases, readers, strict=True):
            reader.backup(connect(to / path.name))


def copy_files(whole: Path, to: Path) -> None:
    """Copy whatever is new in a folder, but databases."""
    for path in whole.rglob("*"):
        if path.is_dir() or not path.is_file() or path.name.endswith(OF_DATABASES):
            continue
        copy = to / path.relative_to(whole)
        # Some go away while one looks.
        with suppress(FileNotFoundError):
            now = path.stat()
            if copy.exists() and (copy.stat().st_mtime_ns, copy.stat().st_size) == (
                now.st_mtime_ns,
                now.st_size,
            ):
                continue
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copy)


def back_up(home: Path, folder: Path) -> None:
    """Copy the databases once; what is there of the last time stays until the new one is whole."""
    databases = folder / "databases"
    new, last, former = databases / "new", databases / "last", databases / "former"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    at = datetime.now(UTC)
    snapshot(databases_of(home), new)
    (new / "as-of").write_text(f"{at:%Y-%m-%d %H:%M:%S} UTC\n")
    shutil.rmtree(former, ignore_errors=True)
    if last.exists():
        last.rename(former)
    new.rename(last)


def changes(home: Path, watched: dict[Path, sqlite3.Connection]) -> list[int]:
    """Return numbers that differ from the last ones when a database of the home has changed."""
    for path in databases_of(home):
        if path not in watched:
            watched[path] = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    return [row.execute("PRAGMA data_version").fetchone()[0] for row in watched.values()]


def main(home: Path, releases: Path, folder: Path) -> None:
    """Keep the folder up to date until one is stopped; it has to be outside of what is copied."""
    for whole in (home, releases):
        if folder.resolve().is_relative_to(whole.resolve()):
            sys.exit(f"{folder} is in {whole}, which is copied there: name a folder elsewhere.")
    watched: dict[Path, sqlite3.Connection] = {}
    known: list[int] | None = None
    while True:
        began = time.monotonic()
        try:
            if (now := changes(home, watched)) != known:
                back_up(home, folder)
                known = now
            copy_files(home, folder / "files")
            copy_files(releases, folder / "releases")
        except (OSError, sqlite3.Error) as error:
            print(f"backup: not now, it is tried again: {error}", file=sys.stderr, flush=True)
        took = time.monotonic() - began
        time.sleep(max(SECONDS - took, took / SHARE - took, 0))


if __name__ == "__main__":
    try:
        main(*map(Path, sys.argv[1:4]))
    except KeyboardInterrupt:
        sys.exit(0)
