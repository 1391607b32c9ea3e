"""SQLite's part of a copy: both files as one moment saw them, checked."""

import sqlite3
from contextlib import ExitStack, closing
from pathlib import Path

from deploy.copies import BESIDE, BackupError, Site

BUSY_SECONDS = 30.0


class SqliteFiles:
    """The two database files of a site."""

    # Of a day the last copy is kept: each has all of both.
    alike = len("2026-11-29")

    def __init__(self, site: Site) -> None:
        self.files = site.files

    def marks(self) -> list[tuple[int, int, int]]:
        """Return what differs when a database has changed, or is another file of the same name.

        Raises BackupError where one is not there.
        """
        found = []
        for path in self.files.values():
            if not path.is_file():
                raise BackupError(
                    f"There is no database at {path}: start the site first, or name the file in "
                    "DATABASE_URL."
                )
            for each in (path, Path(f"{path}-wal")):
                if each.exists():
                    now = each.stat()
                    found.append((now.st_ino, now.st_size, now.st_mtime_ns))
        return found

    def keep(self, moment: str, to: Path) -> None:
        """Copy both into a folder. Raises sqlite3.Error and BackupError.

        Nobody writes for the few milliseconds in which the reading of all of them begins.
        """
        to.mkdir(parents=True)
        with ExitStack() as opened:

            def connect(path: Path, mode: str) -> sqlite3.Connection:
                address = f"{path.resolve().as_uri()}?mode={mode}"
                made = sqlite3.connect(address, BUSY_SECONDS, isolation_level=None, uri=True)
                return opened.enter_context(closing(made))

            writers = [connect(path, "rw") for path in self.files.values()]
            for writer in writers:
                writer.execute("BEGIN IMMEDIATE")
            readers = [connect(path, "rw") for path in self.files.values()]
            for reader in readers:
                reader.execute("BEGIN")
                reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
            for writer in writers:
                writer.execute("ROLLBACK")
            for (name, path), reader in zip(self.files.items(), readers, strict=True):
                copy = connect(to / name, "rwc")
                reader.backup(copy)
                if not copy.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                    raise BackupError(f"{path} has no tables: DATABASE_URL names no site's file.")
                # Rules of Django's use functions of its own.
                copy.execute("PRAGMA ignore_check_constraints = ON")
                if (said := copy.execute("PRAGMA integrity_check").fetchone()[0]) != "ok":
                    raise BackupError(f"{path} is damaged ({said}): restore the last copy.")

    def configure(self) -> None:
        """Raise BackupError where a database is not there."""
        self.marks()

    def tend(self, drilled_at: float, was_whole: bool) -> bool:
        """Return whether there is something to restore: every copy."""
        return True

    def stop(self) -> None:
        """End what goes on by itself: nothing does."""

    def shortcomings(self) -> list[str]:
        """Return what is wrong beside a copy that was restored: nothing, it is all there is."""
        return []

    def confirm(self) -> int:
        """Return how many bytes of what was written are still to come: none."""
        return 0

    def restore(self, copy: Path, when: str, to: Path | None) -> None:
        """Leave it to the copy, which has both; raises BackupError where a database is there."""
        for path in self.files.values():
            for file in (path, *(Path(f"{path}{end}") for end in BESIDE)):
                if file.exists():
                    raise BackupError(f"{file} is there: move it away first.")
