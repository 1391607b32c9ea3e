"""Keeps a folder a few seconds behind a site: .venv/bin/python -m deploy.backup FOLDER.

A copy is made when something has changed: every five seconds, and where a copy takes longer than
half a second, so seldom that copying takes a tenth of the time. Each day one is restored in an
empty place, for a copy that was not restored is no copy. What is known of all this stands in
FOLDER/as-of, and for the site in COLLECTOR_HOME/backup.json.
"""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deploy.copies import BESIDE, DRILL, BackupError, Site, listed, make_copy, remove_old, site_of
from deploy.server_log import DAY_SECONDS, HOUR_SECONDS, ServerLog

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


SECONDS, SHARE = 5.0, 0.1
# Files that have been written within it may be written again without a new time.
TICK_NANOSECONDS = 1_000_000_000
# A folder that is further behind is an alarm; where copying takes long, behind by two rests.
STALE_SECONDS = 60.0


def days_kept(environ: Mapping[str, str]) -> int:
    """Return for how many days copies are kept; raises BackupError for less than one."""
    kept = environ.get("BACKUPS_KEPT") or "7"
    if not (kept.isascii() and kept.isdigit() and int(kept)):
        raise BackupError(
            f"BACKUPS_KEPT={kept}: write for how many days copies are kept, 1 or more."
        )
    return int(kept)


def databases_of(site: Site, folder: Path, days: int = 7) -> SqliteFiles | ServerLog:
    """Return what keeps the site's databases in the folder."""
    return ServerLog(site, folder, days) if site.is_on_postgresql else SqliteFiles(site)


class Backup:
    """A folder that is kept up to date, and what of the site is known to be in it."""

    def __init__(self, site: Site, folder: Path, days: int) -> None:
        self.site, self.folder, self.days = site, folder, days
        self.databases = databases_of(site, folder, days)
        self.known: object = None
        self.copying_seconds = 0.0
        self.drill: subprocess.Popen[bytes] | None = None
        self.told: dict[str, Any] = {"as_of": 0, "stale_at": 0, "behind_bytes": 0}

    def look(self) -> None:
        """Copy what has changed, and tell what is known.

        Raises BackupError, OSError and sqlite3.Error.
        """
        at = datetime.now(UTC)
        try:
            self._copy()
            self.told |= {"behind_bytes": self.databases.confirm(), "problem": ""}
            stale = max(STALE_SECONDS, 2 * self.copying_seconds / SHARE)
            self.told |= {"as_of": at.timestamp(), "stale_at": at.timestamp() + stale}
            (self.folder / "as-of").write_text(f"{at:%Y-%m-%d %H:%M:%S} UTC\n")
        except (BackupError, OSError, sqlite3.Error) as error:
            self.told["problem"] = str(error)
            raise
        finally:
            new = self.site.home / ".backup.json"
            new.write_text(json.dumps({**self.told, "drill": self.drilled}))
            new.replace(self.site.home / "backup.json")

    def _copy(self) -> None:
        self.copying_seconds = 0.0
        marks, files = self.databases.marks(), listed(self.site)
        if (files, marks) == self.known:
            return
        began = time.monotonic()
        make_copy(self.site, self.folder, self.databases.keep)
        if not self._tried():
            remove_old(self.folder, self.days, self.databases.alike)
        self.copying_seconds = time.monotonic() - began
        newest = max((mark[-1] for mark in [*files.values(), *marks]), default=0)
        self.known = (files, marks) if time.time_ns() - newest > TICK_NANOSECONDS else None

    def restore_daily(self) -> None:
        """Restore a fresh copy in a process of its own where the last such drill is long ago."""
        if self.drill is not None and self.drill.poll() is None:
            return
        self.drill = None
        last = self.drilled
        at, wait = last.get("at", 0.0), HOUR_SECONDS if last.get("problems") else DAY_SECONDS
        is_due = time.time() - at > wait
        if self.databases.tend(at, last.get("is_whole", True)) and is_due:
            for left in self._tried():
                # Its process was killed; a server that ran on it ends without its files.
                shutil.rmtree(left, ignore_errors=True)
            copy = make_copy(self.site, self.folder, self.databases.keep)
            self.databases.confirm()
            words = [sys.executable, "-m", "deploy.drill", str(self.folder), copy.name]
            self.drill = subprocess.Popen(words)

    def _tried(self) -> list[Path]:
        """Return where copies are being restored: they stay meanwhile."""
        return list(self.folder.glob(f"{DRILL}*"))

    @property
    def drilled(self) -> dict[str, Any]:
        """Return what came of the last drill; {} where there was none."""
        try:
            found: dict[str, Any] = json.loads((self.folder / "drill.json").read_text())
        except (OSError, ValueError):
            return {}
        return found

    def stop(self) -> None:
        """End what goes on by itself."""
        if self.drill is not None:
            self.drill.terminate()
            self.drill.wait()
        self.databases.stop()


def main(folder: Path) -> None:
    """Keep the folder up to date until one is stopped; it has to be outside of what is copied."""
    os.umask(0o077)
    site = site_of(os.environ)
    for whole in site.folders.values():
        if folder.resolve().is_relative_to(whole):
            raise BackupError(f"{folder} is in {whole}, which is copied: name a folder elsewhere.")
    if not site.home.is_dir():
        raise BackupError(f"There is no {site.home}: start the site first, or set COLLECTOR_HOME.")
    backup = Backup(site, folder, days_kept(os.environ))
    backup.databases.configure()
    # Where it is a container's first process, nobody else says what the signal means.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        while True:
            began = time.monotonic()
            try:
                backup.look()
                backup.restore_daily()
            except (BackupError, OSError, sqlite3.Error) as error:
                print(f"backup: not now, it is tried again: {error}", file=sys.stderr, flush=True)
            rest = max(SECONDS, backup.copying_seconds / SHARE)
            time.sleep(max(rest - (time.monotonic() - began), 0))
    finally:
        backup.stop()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Name the folder for the backups, on another disk if there is one.")
    try:
        main(Path(sys.argv[1]))
    except BackupError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(0)
