"""Keeps a folder a few seconds behind a site: .venv/bin/python -m deploy.backup FOLDER.

A copy is made when something has changed: every five seconds, and where a copy takes longer than
half a second, so seldom that copying takes a tenth of the time. `as-of` says when all was known to
be there. .venv/bin/python -m deploy.restore puts it back.
"""

import os
import sqlite3
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path

from deploy.copies import BackupError, Site, listed, make_copy, remove_old, site_of

SECONDS, SHARE = 5.0, 0.1
BUSY_SECONDS = 30.0
# Files that have been written within it may be written again without a new time.
TICK_NANOSECONDS = 1_000_000_000


def snapshot(site: Site, to: Path) -> None:
    """Copy SQLite's databases into a folder as one and the same moment saw them; check them.

    Nobody writes for the few milliseconds in which the reading of all of them begins. Raises
    sqlite3.Error and BackupError.
    """
    to.mkdir(parents=True)
    with ExitStack() as opened:

        def connect(path: Path, mode: str) -> sqlite3.Connection:
            address = f"{path.resolve().as_uri()}?mode={mode}"
            made = sqlite3.connect(address, BUSY_SECONDS, isolation_level=None, uri=True)
            return opened.enter_context(closing(made))

        writers = [connect(path, "rw") for path in site.files.values()]
        for writer in writers:
            writer.execute("BEGIN IMMEDIATE")
        readers = [connect(path, "rw") for path in site.files.values()]
        for reader in readers:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
        for writer in writers:
            writer.execute("ROLLBACK")
        for (name, path), reader in zip(site.files.items(), readers, strict=True):
            copy = connect(to / name, "rwc")
            reader.backup(copy)
            if not copy.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                raise BackupError(f"{path} has no tables: DATABASE_URL has to name the site's own.")
            if (said := copy.execute("PRAGMA integrity_check").fetchone()[0]) != "ok":
                raise BackupError(f"{path} is damaged ({said}): restore the last copy.")


def marks(site: Site) -> list[tuple[int, int, int]]:
    """Return what differs when a database has changed, or is another file of the same name.

    Raises BackupError where one is not there.
    """
    found = []
    for path in site.files.values():
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


def days_kept(environ: Mapping[str, str]) -> int:
    """Return for how many days copies are kept; raises BackupError for less than one."""
    kept = environ.get("BACKUPS_KEPT") or "7"
    if not (kept.isascii() and kept.isdigit() and int(kept)):
        raise BackupError(
            f"BACKUPS_KEPT={kept}: write for how many days copies are kept, 1 or more."
        )
    return int(kept)


class Backup:
    """A folder that is kept up to date, and what of the site is known to be in it."""

    def __init__(self, site: Site, folder: Path, days: int) -> None:
        self.site, self.folder, self.days = site, folder, days
        self.known: object = None

    def look(self) -> None:
        """Copy what has changed. Raises BackupError, OSError and sqlite3.Error."""
        at, files, databases = datetime.now(UTC), listed(self.site), marks(self.site)
        if (files, databases) != self.known:
            make_copy(self.site, self.folder, lambda moment, to: snapshot(self.site, to))
            remove_old(self.folder, self.days, alike=len("2026-11-29"))
            newest = max(mark[-1] for mark in [*files.values(), *databases])
            is_settled = time.time_ns() - newest > TICK_NANOSECONDS
            self.known = (files, databases) if is_settled else None
        (self.folder / "as-of").write_text(f"{at:%Y-%m-%d %H:%M:%S} UTC\n")


def main(folder: Path) -> None:
    """Keep the folder up to date until one is stopped; it has to be outside of what is copied."""
    os.umask(0o077)
    site = site_of(os.environ)
    for whole in site.folders.values():
        if folder.resolve().is_relative_to(whole):
            raise BackupError(f"{folder} is in {whole}, which is copied: name a folder elsewhere.")
    backup = Backup(site, folder, days_kept(os.environ))
    marks(site)
    while True:
        began = time.monotonic()
        try:
            backup.look()
        except (BackupError, OSError, sqlite3.Error) as error:
            print(f"backup: not now, it is tried again: {error}", file=sys.stderr, flush=True)
        took = time.monotonic() - began
        time.sleep(max(SECONDS - took, took / SHARE - took, 0))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Name the folder for the backups, on another disk if there is one.")
    try:
        main(Path(sys.argv[1]))
    except BackupError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(0)
