"""Copies of a site, each of one moment and whole, or refused: what backing up and restoring share.

FOLDER/copies/MOMENT has `home`, `releases` and, on SQLite, `databases`. Its digests.json says what
each file has to be; a file that has not changed since the copy before is the same one. What the
site has let go is in no copy after that.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from collector.environment import read
from common.environment import WrongEnvironment, database

MOMENT = "%Y-%m-%dT%H-%M-%S.%fZ"
DIGESTS = "digests.json"
# How the places begin in which copies are restored to try them.
DRILL = ".drill-"
# In a home: made anew where it is needed, or true of one process alone.
PASSING = ("static", "metrics", "rehearsals", "backup.json", "port", "serve.pid")
# What a release is written to before it is in its place.
HALF_WRITTEN = re.compile(r"\..*\..{8}")
# By the alias of a database: its file in a copy, and what SQLite has beside it.
FILES = {"default": "collector.sqlite3", "marketplace": "marketplace.sqlite3"}
BESIDE = ("-wal", "-shm", "-journal")
# Of a file: its size in bytes, its time in nanoseconds, and in a copy its SHA-256.
Listing = dict[str, tuple[int, int]]
Digests = dict[str, tuple[int, int, str]]


class BackupError(Exception):
    """A copy cannot be made or put back; the message is one line that says what to do."""


@dataclass(frozen=True)
class Site:
    """What is copied: two folders, and databases as Django has them, by alias."""

    home: Path
    releases: Path
    databases: dict[str, dict[str, Any]]

    @property
    def folders(self) -> dict[str, Path]:
        """Return the folders by their names in a copy."""
        return {"home": self.home, "releases": self.releases}

    @property
    def is_on_postgresql(self) -> bool:
        """Return whether a server has the databases, not two files."""
        return "postgresql" in self.databases["default"]["ENGINE"]

    @property
    def files(self) -> dict[str, Path]:
        """Return the databases' files by their names in a copy; {} where a server has them."""
        if self.is_on_postgresql:
            return {}
        return {FILES[alias]: Path(row["NAME"]) for alias, row in self.databases.items()}

    def place(self, name: str) -> Path:
        """Return where a file of a copy belongs here."""
        first, _, rest = name.partition("/")
        return self.files[rest] if first == "databases" else self.folders[first] / rest


def site_of(environ: Mapping[str, str]) -> Site:
    """Return the site that these variables mean; raises BackupError."""
    try:
        environment = read(environ)
    except WrongEnvironment as wrong:
        raise BackupError(str(wrong)) from None
    databases = environment.databases()
    if environment.MARKETPLACE_DATABASE_URL:
        databases["marketplace"] = database(environment.MARKETPLACE_DATABASE_URL)
    servers = {(row["ENGINE"], row.get("HOST"), row.get("PORT")) for row in databases.values()}
    if len(servers) > 1:
        raise BackupError(
            "DATABASE_URL and MARKETPLACE_DATABASE_URL name two servers, and no copy has both as "
            "one moment saw them: put both databases on one."
        )
    releases = Path(environ.get("RELEASES") or "releases").resolve()
    return Site(environment.home, releases, databases)


def listed(site: Site) -> Listing:
    """Return the files that are kept, by their names in a copy."""
    passing = {site.home / name for name in PASSING}
    passing |= {Path(f"{path}{end}") for path in site.files.values() for end in ("", *BESIDE)}
    found: Listing = {}
    for name, whole in site.folders.items():
        for folder, inner, files in os.walk(whole):
            inner[:] = [
                each
                for each in inner
                if Path(folder, each) not in passing and not HALF_WRITTEN.fullmatch(each)
            ]
            for path in (Path(folder, each) for each in files):
                # Some go away while one looks.
                with suppress(FileNotFoundError):
                    if path not in passing and path.is_file():
                        now = path.stat()
                        key = f"{name}/{path.relative_to(whole)}"
                        found[key] = now.st_size, now.st_mtime_ns
    return found


def make_copy(site: Site, folder: Path, copy_databases: Callable[[str, Path], object]) -> Path:
    """Return a new copy in the folder, made whole before it has its name.

    copy_databases: keeps the databases of this moment, by the name of the copy, in a folder of it.
    A file that was there at that moment was listed before it or is afterwards.
    """
    moment = datetime.now(UTC).strftime(MOMENT)
    new = folder / "copies" / ".new"
    before = next(reversed(copies_in(folder)), None)
    shutil.rmtree(new, ignore_errors=True)
    known = digests_of(before) if before else {}
    digests: Digests = {}

    def add_files() -> None:
        for name, mark in listed(site).items():
            if name in digests:
                continue
            to = new / name
            to.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):
                if before and known.get(name, ())[:2] == mark and _is_linked(before / name, to):
                    digests[name] = known[name]
                else:
                    shutil.copy2(site.place(name), to)
                    digests[name] = *mark, _sha256(to)

    add_files()
    copy_databases(moment, new / "databases")
    for path in (new / "databases").glob("*"):
        digests[f"databases/{path.name}"] = path.stat().st_size, 0, _sha256(path)
    add_files()
    new.mkdir(parents=True, exist_ok=True)
    (new / DIGESTS).write_text(json.dumps(digests))
    return new.rename(new.with_name(moment))


def _is_linked(path: Path, to: Path) -> bool:
    """Return whether the file is at both places now; not every disk can have that."""
    try:
        os.link(path, to)
    except OSError:
        return False
    return True


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def copies_in(folder: Path) -> list[Path]:
    """Return the whole copies, the oldest first."""
    return sorted(path for path in (folder / "copies").glob("2*"))


def digests_of(copy: Path) -> Digests:
    """Return what each file of a copy has to be; raises BackupError where nobody can say."""
    try:
        rows = json.loads((copy / DIGESTS).read_text())
        return {name: (size, at, digest) for name, (size, at, digest) in rows.items()}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise BackupError(f"{copy / DIGESTS} cannot be read ({error}). {OTHERS}") from None


OTHERS = "Name the time of an earlier copy, or move this one away."


def check(copy: Path) -> None:
    """Raise BackupError where a file of a copy is missing, or is not what was copied."""
    for name, (_, _, digest) in digests_of(copy).items():
        path = copy / name
        if not path.is_file() or _sha256(path) != digest:
            state = "is not what was copied" if path.is_file() else "is missing"
            raise BackupError(f"{path} {state}: the copy is damaged. {OTHERS}")


def chosen(folder: Path, when: str) -> Path:
    """Return the newest copy of that time, or before it; of all for "". Raises BackupError."""
    copies = copies_in(folder)
    if not copies:
        raise BackupError(f"There is no copy in {folder}: name the folder that was backed up to.")
    before = [copy for copy in copies if not when or copy.name <= moment_of(when)]
    if not before:
        raise BackupError(f"There is no copy of {when} or before: the first is {copies[0].name}.")
    return before[-1]


def moment_of(when: str) -> str:
    """Return a time, as a person or the name of a copy gives it, as such a name."""
    with suppress(ValueError):
        return datetime.strptime(when, MOMENT).strftime(MOMENT)
    try:
        return datetime.fromisoformat(f"{when}").astimezone(UTC).strftime(MOMENT)
    except ValueError:
        raise BackupError(
            f"{when!r} is no time: write the name of a copy, or a time such as "
            "2026-11-29T10:30:00+00:00."
        ) from None


def put_back(copy: Path, site: Site, until: str = "") -> None:
    """Put every file of a copy in its place, also where one is there.

    until: a time after it, of the databases: what had come by then is had from the next copy.
    """
    found = dict.fromkeys(digests_of(copy), copy)
    for later in [each for each in copies_in(copy.parent.parent) if each > copy][: bool(until)]:
        at = datetime.strptime(moment_of(until), MOMENT).replace(tzinfo=UTC).timestamp()
        come = (name for name, (_, ns, _) in digests_of(later).items() if ns <= at * 1e9)
        found = dict.fromkeys(come, later) | found
    for name, whole in found.items():
        to = site.place(name)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(whole / name, to)


def remove_old(folder: Path, days: int, alike: int) -> None:
    """Remove copies older than `days` but the last of them, and others of the same period.

    alike: the first characters of a name tell its period: 10 of a day, 13 of an hour. The newest
    two stay in any case.
    """
    copies = copies_in(folder)
    limit = (datetime.now(UTC) - timedelta(days=days)).strftime(MOMENT)
    old = [copy for copy in copies if copy.name < limit]
    last = {copy.name[:alike]: copy for copy in copies if copy.name >= limit}
    for copy in set(copies) - {*last.values(), *copies[-2:], *old[-1:]}:
        shutil.rmtree(copy)
