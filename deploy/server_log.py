"""PostgreSQL's part of a copy, which Barman keeps: a base each day, and all that is written since.

A copy's moment is a named point in that log.
"""

import json
import os
import pwd
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deploy.copies import MOMENT, BackupError, Site, moment_of

ROOT = Path(__file__).resolve().parent.parent
# What Barman has to do now and then: begin to receive, put away, forget what is old.
TENDING_SECONDS = 60.0
CONFIRM_SECONDS = 10.0
HOUR_SECONDS, DAY_SECONDS = 3600.0, 24 * 3600.0
# Whose log begins anew: what is written after a restore is another history.
RESTORED = "restored"
# What is there until a base is, which has to be made at once.
OWED = "base-owed"
# Of a restore, beside which a backup may go on: the folder may have another path, the server none.
RESTORING = "restore.conf"
# One that has just begun has confirmed nothing yet.
RECEIVER = (
    "application_name = 'barman_receive_wal' AND state = 'streaming' AND flush_lsn IS NOT NULL"
)


def programs_of(version: str) -> Path:
    """Return the folder of the server's own programs, of this major version."""
    found = Path(f"/usr/lib/postgresql/{version}/bin")
    if not found.is_dir():
        if not (server := shutil.which("postgres")):
            raise BackupError(
                f"The programs of PostgreSQL {version}'s server are not here: install them, a copy "
                "is restored each day to see that it can be."
            )
        found = Path(server).resolve().parent
    return found


class ServerLog:
    """The log and the bases of the server with both databases, in a folder."""

    # Of an hour the last copy of files is kept: databases come back as of any moment.
    alike = len("2026-11-29T10")

    def __init__(self, site: Site, folder: Path, days: int = 7) -> None:
        self.site, self.folder, self.days = site, folder, days
        self.configuration = folder / "barman.conf"
        self.tended = 0.0
        self.base: subprocess.Popen[bytes] | None = None
        self.newest = self.look_again = self.begun_until = 0.0

    @property
    def connection(self) -> str:
        """Return how the server is reached, as its own programs take it."""
        from psycopg2.extensions import make_dsn

        row = self.site.databases["default"]
        names = {"HOST": "host", "PORT": "port", "USER": "user", "PASSWORD": "password"}
        named = {given: row[name] for name, given in names.items() if row[name]}
        return str(make_dsn(dbname=row["NAME"], **named, **row["OPTIONS"]))

    @contextmanager
    def asked(self) -> Iterator[Any]:
        """Yield a cursor; raises BackupError where the server does not answer, or refuses."""
        import psycopg2

        try:
            with closing(psycopg2.connect(self.connection)) as connected:
                connected.autocommit = True
                with connected.cursor() as cursor:
                    yield cursor
        except psycopg2.Error as error:
            said = " ".join(str(error).split())
            raise BackupError(f"The database does not do what it is asked to ({said}).") from None

    def configure(self) -> None:
        """Write Barman's configuration; raises BackupError where it could not work."""
        if os.geteuid() == 0:
            raise BackupError("Run it as the user who runs the site: PostgreSQL refuses root.")
        with self.asked() as cursor:
            cursor.execute("SHOW server_version")
            version = cursor.fetchone()[0].partition(".")[0]
            names = "synchronous_standby_names", "synchronous_commit"
            cursor.execute("SELECT current_setting(%s), current_setting(%s)", names)
            # Were it not local, workers who hand work in would wait for the backup.
            if cursor.fetchone() != ("barman_receive_wal", "local"):
                raise BackupError(
                    "The server is not prepared: have its superuser run `psql --file "
                    f"deploy/barman.sql {self.site.databases['default']['NAME']}` once."
                )
        (self.folder / "barman").mkdir(parents=True, exist_ok=True)
        self._write(str(programs_of(version)))
        self.barman("--version")

    def _write(self, programs: str) -> None:
        text = (ROOT / "deploy" / "barman.conf").read_text()
        given = {
            "USER": pwd.getpwuid(os.geteuid()).pw_name,
            "FOLDER": str(self.folder.resolve()),
            "CONNECTION": self.connection,
            "PROGRAMS": programs,
            "DAYS": str(self.days),
        }
        for name, value in given.items():
            text = text.replace(f"@{name}@", value)
        self.configuration.write_text(text)

    def command(self, *words: str) -> list[str]:
        """Return a command of Barman; raises BackupError where there is none."""
        path = shutil.which("barman", path=f"{ROOT / '.barman' / 'bin'}:{os.environ['PATH']}")
        if path is None or not shutil.which("rsync"):
            raise BackupError(
                "Barman or rsync is not here: run `make setup-backup`, and install rsync."
            )
        return [path, "--config", str(self.configuration), *words]

    def barman(self, *words: str) -> str:
        """Return what Barman printed; raises BackupError with what it complained of."""
        done = subprocess.run(
            self.command(*words), capture_output=True, text=True, check=False, cwd=self.folder
        )
        if done.returncode:
            lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
            lines = [line for line in lines if not line.startswith("See log file")]
            said = [line for line in lines if "ERROR" in line] or lines or ["it said nothing"]
            raise BackupError(f"barman {words[0]}: {said[-1].strip()}")
        return done.stdout

    def bases(self) -> list[tuple[float, str]]:
        """Return when each base was whole, in seconds, and what Barman calls it; oldest first."""
        rows = json.loads(self.barman("--format", "json", "list-backups", "site"))["site"]
        return sorted(
            (float(row["end_time_timestamp"]), row["backup_id"])
            for row in rows
            if row["status"] == "DONE"
        )

    def marks(self) -> list[tuple[int, int, int]]:
        """Have Barman receive, and begin anew where a part of the log is lost; return nothing."""
        with self.asked() as cursor:
            cursor.execute("SELECT wal_status FROM pg_replication_slots WHERE slot_name = 'barman'")
            slot = cursor.fetchone()
            cursor.execute(f"SELECT count(*) FROM pg_stat_replication WHERE {RECEIVER}")
            is_received = cursor.fetchone()[0] > 0
        # A slot that was just asked for takes a moment to be there.
        is_lost = (not slot or slot[0] == "lost") and time.monotonic() > self.begun_until
        if (self.folder / RESTORED).exists() or (is_lost and self.bases()):
            self.begin_anew()
        elif not is_received or time.monotonic() - self.tended > TENDING_SECONDS:
            self.tended = time.monotonic()
            self.barman("cron")
        return []

    def begin_anew(self) -> None:
        """Receive from now on, and owe a base: no older one leads over what nobody received."""
        self._end_base()
        for word in ("--stop", "--drop-slot"):
            # Nobody receives, or there is no slot.
            with suppress(BackupError):
                self.barman("receive-wal", word, "site")
        self.barman("receive-wal", "--reset", "site")
        self.barman("cron")
        self.begun_until, self.look_again = time.monotonic() + TENDING_SECONDS, 0.0
        (self.folder / OWED).touch()
        (self.folder / RESTORED).unlink(missing_ok=True)

    def tend(self, drilled_at: float, was_whole: bool) -> bool:
        """Make a base where one is due, and return whether there is one to restore.

        It is due each day, once the one before was restored with all that was written since: so
        each byte of the log is read again before it is needed. And at once when that was not whole.
        Raises BackupError.
        """
        owed = self.folder / OWED
        if self.base is not None:
            code = self.base.poll()
            if code is None:
                return False
            # Another is tried a minute later; by and by the drill tells how old the newest is.
            self.base = None
            if code == 0:
                owed.unlink(missing_ok=True)
        elif time.monotonic() < self.look_again:
            return self.newest > 0
        self.look_again = time.monotonic() + TENDING_SECONDS
        self.newest = max((at for at, _ in self.bases()), default=0.0)
        is_old = not was_whole or time.time() - self.newest > DAY_SECONDS - HOUR_SECONDS
        if owed.exists() or not self.newest or (drilled_at > self.newest and is_old):
            self.barman("switch-wal", "--force", "--archive", "site")
            quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            self.base = subprocess.Popen(self.command("backup", "--wait", "site"), **quiet)
        return self.base is None and self.newest > 0

    def stop(self) -> None:
        """End what goes on by itself."""
        self._end_base()
        with suppress(BackupError):
            self.barman("receive-wal", "--stop", "site")

    def _end_base(self) -> None:
        if self.base is not None:
            self.base.terminate()
            self.base.wait()
            self.base = None

    def keep(self, moment: str, to: Path) -> None:
        """Name this moment in the log."""
        with self.asked() as cursor:
            cursor.execute("SELECT pg_create_restore_point(%s)", [moment])

    def confirm(self) -> int:
        """Return how many bytes are received later than written, once all until now has come.

        Raises BackupError where it does not come.
        """
        until, behind = time.monotonic() + CONFIRM_SECONDS, None
        with self.asked() as cursor:
            cursor.execute("SELECT pg_current_wal_flush_lsn()")
            [(at,)] = cursor.fetchall()
            while time.monotonic() < until:
                cursor.execute(
                    "SELECT pg_wal_lsn_diff(%s, flush_lsn), pg_wal_lsn_diff("
                    "pg_current_wal_flush_lsn(), flush_lsn) FROM pg_stat_replication "
                    f"WHERE {RECEIVER}",
                    [at],
                )
                for missing, behind in cursor.fetchall():
                    if missing <= 0:
                        return int(behind)
                time.sleep(0.1)
        if behind is None:
            raise BackupError("Nobody receives what the database writes: barman.log says why.")
        raise BackupError(f"What is received is {int(behind)} bytes behind what is written.")

    def shortcomings(self) -> list[str]:
        """Return what is wrong beside a copy that was restored."""
        self.configuration = self.folder / RESTORING
        newest = max((at for at, _ in self.bases()), default=0.0)
        if time.time() - newest < 2 * DAY_SECONDS:
            return []
        return [
            f"no base has been made since {datetime.fromtimestamp(newest, UTC)}: see barman.log."
        ]

    def restore(self, copy: Path, when: str, to: Path | None) -> None:
        """Put the server's files into an empty folder: as of the log's end, a copy, or a time.

        Raises BackupError.
        """
        if to is None or (to.exists() and any(to.iterdir())):
            raise BackupError(f"PGDATA={to or ''}: name the empty folder for the server's files.")
        self.configuration = self.folder / RESTORING
        self._write("")
        bases, words = self.bases(), []
        if when:
            moment = moment_of(when)
            at = datetime.strptime(moment, MOMENT).replace(tzinfo=UTC)
            bases = [base for base in bases if base[0] <= at.timestamp()]
            words = ["--target-name", moment] if moment == copy.name else ["--target-time", f"{at}"]
            words += ["--target-action", "promote"]
        if not bases:
            raise BackupError(f"{self.folder} has no base of {when or 'any time'}, or before.")
        base = bases[-1][1]
        data = self.folder / "barman" / "site" / "base" / base / "data"
        self._write(str(programs_of((data / "PG_VERSION").read_text().strip())))
        self.barman("verify-backup", "site", base)
        self.barman("restore", "--partial-wal", *words, "site", base, str(to.resolve()))
