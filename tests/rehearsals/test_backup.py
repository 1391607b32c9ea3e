"""Copies of a site on PostgreSQL: what happens to server and backup, and what comes back of them.

They run as whoever owns the home, which PostgreSQL wants not to be root.
"""

import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg2
import pytest

from deploy.copies import copies_in
from tests import migrated_databases, process_groups, services
from tests.rehearsals import restartable_services
from tests.rehearsals.restartable_services import RunningService
from tests.serving import ROOT, SETTINGS

PATIENCE_SECONDS = 180.0
# Barman, in whatever environment of its own.
PLACES = f"{ROOT / '.barman' / 'bin'}:{os.environ.get('BARMAN', '')}:{os.environ['PATH']}"
PUBLISH = """
import django; django.setup()
from django.utils import timezone
from tasks import hits
from tasks.tests.making import make_collection, stage_of
stage = stage_of(make_collection(seeds=8), "question")
hits.plan_postings(stage, timezone.now(), 3)
assert hits.publish_pending(stage, timezone.now()) == 3
"""


def as_no_root() -> list[str]:
    """Return what is put before a command so that it believes to be another user than root."""
    if os.geteuid():
        return []
    user = pwd.getpwnam("postgres")
    return ["unshare", "--user", f"--map-user={user.pw_uid}", f"--map-group={user.pw_gid}"]


def why_not() -> str:
    """Return why nothing can be tried here; "" where it can."""
    if not shutil.which("barman", path=PLACES):
        return "Backups of PostgreSQL need Barman: run make setup-backup"
    if not shutil.which("rsync") or not services.binary("postgres"):
        return "Backups of PostgreSQL need rsync and PostgreSQL's own programs"
    if subprocess.run([*as_no_root(), "true"], check=False, capture_output=True).returncode:
        return "PostgreSQL does not run as root, and nobody can be another user here"
    return ""


pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())


class Site:
    """Both databases on a server of one's own, a marketplace, a home, and a folder for copies."""

    def __init__(self, server: RunningService, folder: Path) -> None:
        self.server, self.folder, self.backups = server, folder, folder / "backups"
        self.address = f"postgres://collector@127.0.0.1:{server.port}"
        self.home = folder / "home"
        self.home.mkdir(parents=True)
        ours = {*SETTINGS, "DJANGO_SETTINGS_MODULE"}
        kept = {name: value for name, value in os.environ.items() if name not in ours}
        self.port = services.free_port()
        self.environment = {
            **kept,
            "PATH": PLACES,
            "PYTHONPATH": str(ROOT),
            "DATABASE_URL": f"{self.address}/collector",
            "MARKETPLACE_DATABASE_URL": f"{self.address}/marketplace",
            "COLLECTOR_HOME": str(self.home),
            "RELEASES": str(folder / "releases"),
            "MTURK_ENDPOINT_URL": f"http://127.0.0.1:{self.port}",
            "MARKETPLACE_DATA_DIR": str(self.home / "marketplace"),
        }

    def run(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Return what a command of the site said, as no root."""
        return subprocess.run(
            [*as_no_root(), sys.executable, *words],
            env={**self.environment, **more},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )

    def settle(self) -> None:
        """Bring the databases up to date, and put three HITs on the marketplace."""
        restartable_services.make_databases(f"{self.address}/postgres", "collector", "marketplace")
        names = ("DATABASE_URL", "MARKETPLACE_DATABASE_URL", "COLLECTOR_HOME")
        migrated_databases.migrate(**{name: self.environment[name] for name in names})
        prepare = ["psql", "--quiet", "--file", str(ROOT / "deploy" / "barman.sql")]
        subprocess.run(
            [*prepare, self.environment["DATABASE_URL"]], check=True, capture_output=True
        )
        keys = ("--keys-file", str(self.home / "requester.json"))
        address = ("--endpoint-url", self.environment["MTURK_ENDPOINT_URL"])
        made = self.run("-m", "marketplace", "create_requester", "Rita", *keys, *address)
        assert made.returncode == 0, made.stderr
        words = ["-m", "uvicorn", "--port", str(self.port), "--lifespan", "off"]
        market = process_groups.begin(
            [sys.executable, *words, "--log-level", "error", "marketplace.asgi:application"],
            env=self.environment,
            cwd=ROOT,
        )
        try:
            services._wait_for(self.port, "The marketplace")
            done = self.run("-c", PUBLISH, DJANGO_SETTINGS_MODULE="collector.settings")
            assert done.returncode == 0, done.stderr
        finally:
            process_groups.end(market)
        self.ask("CREATE TABLE written (number integer)")

    def ask(self, statement: str, database: str = "collector") -> list[tuple[Any, ...]]:
        """Return the rows of a statement."""
        connected = psycopg2.connect(f"{self.address}/{database}")
        connected.autocommit = True
        try:
            with connected.cursor() as cursor:
                cursor.execute(statement)
                return cursor.fetchall() if cursor.description else []
        finally:
            connected.close()

    def write(self, number: int) -> datetime:
        """Write a number, and return when it was there."""
        self.ask(f"INSERT INTO written VALUES ({number})")
        return datetime.now(UTC)

    def written(self) -> list[int]:
        """Return what has been written."""
        return [row[0] for row in self.ask("SELECT number FROM written ORDER BY number")]

    @contextmanager
    def kept(self) -> Iterator["subprocess.Popen[Any]"]:
        """Keep copies in the block."""
        log = (self.folder / "backup.log").open("a")
        command = [*as_no_root(), sys.executable, "-m", "deploy.backup", str(self.backups)]
        process = process_groups.begin(command, env=self.environment, cwd=ROOT, stderr=log)
        try:
            yield process
        finally:
            process_groups.end(process)

    def told(self) -> dict[str, Any]:
        """Return what the backup tells of itself."""
        try:
            found: dict[str, Any] = json.loads((self.home / "backup.json").read_text())
        except (OSError, ValueError):
            return {}
        return found

    def wait(self, is_so: Callable[[], object], what: str) -> float:
        """Return how long it took until something was so."""
        began = time.monotonic()
        while not is_so():
            log = (self.folder / "backup.log").read_text()[-1500:]
            if (barman := self.backups / "barman.log").exists():
                log += "\n".join(barman.read_text().splitlines()[-25:])
            assert time.monotonic() - began < PATIENCE_SECONDS, f"{what}: {self.told()}\n{log}"
            time.sleep(0.2)
        return time.monotonic() - began

    def wait_for_news(self) -> float:
        """Return after how long everything was known to be in the copies again."""
        now = time.time()
        return self.wait(lambda: self.told().get("as_of", 0) > now, "nothing is kept")

    def wait_for_copy(self, note: str) -> str:
        """Write a file, and return the name of a copy that has it, once its moment is received."""
        (self.home / "note").write_text(note)

        def is_there() -> bool:
            kept = copies_in(self.backups)[-1] / "home" / "note"
            return kept.exists() and kept.read_text() == note

        self.wait(is_there, "no copy")
        copy = copies_in(self.backups)[-1].name
        self.wait_for_news()
        return copy

    def restore(self, name: str, when: str = "") -> "Site":
        """Return the site that is put back, elsewhere, and runs."""
        there = self.folder / name
        data = there / "pgdata"
        more = {"COLLECTOR_HOME": str(there / "home"), "PGDATA": str(data)}
        more["RELEASES"] = str(there / "releases")
        began = time.monotonic()
        done = self.run(
            "-m", "deploy.restore", str(self.backups), *([when] if when else []), **more
        )
        assert done.returncode == 0, done.stderr
        middle = time.monotonic()
        server = self.server
        subprocess.run(["chown", "-R", f"{server.user or os.geteuid()}", there], check=True)
        command = list(server.command)
        command[command.index("-D") + 1] = str(data)
        port = services.free_port()
        command[command.index("-p") + 1] = str(port)
        other = RunningService("PostgreSQL", command, port, server.user, lambda: True)
        other.start()
        made = object.__new__(Site)
        made.__dict__ = {**self.__dict__, "server": other, "home": there / "home"}
        made.address = f"postgres://collector@127.0.0.1:{port}"
        self.wait(lambda: made.is_up(), "the restored server")
        tell(
            f"restored {name} in {middle - began:.1f} s, up {time.monotonic() - middle:.1f} s later"
        )
        return made

    def is_up(self) -> bool:
        """Return whether the server takes what is written."""
        try:
            return self.ask("SELECT pg_is_in_recovery()") == [(False,)]
        except psycopg2.OperationalError:
            return False


def tell(what: str) -> None:
    """Print a line."""
    print(f"backup: {what}", flush=True)


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    """Return a site whose first copy was made and restored."""
    with (
        tempfile.TemporaryDirectory(prefix="collector-backup-") as folder,
        restartable_services.postgresql() as server,
    ):
        # The server's user goes through it.
        Path(folder).chmod(0o755)
        server.kill()
        local = {"synchronous_commit=on": "synchronous_commit=local"}
        server.command = [local.get(word, word) for word in server.command]
        server.start()
        made = Site(server, Path(folder))
        made.settle()
        with made.kept():
            made.wait(lambda: made.told().get("drill"), "no copy was restored")
        drill = made.told()["drill"]
        assert drill["problems"] == []
        tell(f"the first copy restored and examined in {drill['seconds']} s")
        yield made


def test_what_was_written_comes_back_as_of_the_end_of_a_copy_and_of_a_moment(site: Site) -> None:
    with site.kept():
        site.wait_for_news()
        site.write(1)
        copy = site.wait_for_copy("one")
        moment = site.write(2)
        time.sleep(1.5)
        site.write(3)
        (site.home / "note").unlink()
        time.sleep(1)
        site.server.kill()
    try:
        for name, when, numbers in (
            ("at-the-end", "", [1, 2, 3]),
            ("by-name", copy, [1]),
            ("by-time", moment.isoformat(), [1, 2]),
        ):
            there = site.restore(name, when)
            try:
                assert there.written() == numbers
                assert (there.home / "note").exists()
                assert (there.home / "requester.json").exists()
                [(hits,)] = there.ask("SELECT count(*) FROM marketplace_hit", "marketplace")
                assert hits == 3
            finally:
                there.server.kill()
    finally:
        (site.backups / "restored").unlink(missing_ok=True)
        site.server.start()


def bases(site: Site) -> list[str]:
    """Return the whole copies of the server."""
    found = (site.backups / "barman" / "site" / "meta").glob("*-backup.info")
    return sorted(path.name for path in found if "status=DONE" in path.read_text())


def test_copying_goes_on_by_itself_whatever_is_killed(site: Site) -> None:
    with site.kept():
        site.wait_for_news()
        lock = site.backups / "barman" / ".site-receive-wal.lock"
        for pid in list(process_groups.family(int(lock.read_text()))):
            os.kill(pid, signal.SIGKILL)
        tell(f"all is kept {site.wait_for_news():.1f} s after the receiver was killed")
        site.server.kill()
        time.sleep(6)
        assert "does not do what it is asked to" in site.told()["problem"]
        site.server.start()
        tell(f"all is kept {site.wait_for_news():.1f} s after the server is back")
    with site.kept() as process:
        site.wait_for_news()
        os.killpg(process.pid, signal.SIGKILL)
    with site.kept():
        tell(f"all is kept {site.wait_for_news():.1f} s after the backup was killed and begun")
        assert site.told()["problem"] == ""


def test_a_gap_in_the_log_is_followed_by_a_whole_copy_at_once(site: Site) -> None:
    before = bases(site)
    site.ask("SELECT pg_drop_replication_slot('barman')")
    for _ in range(3):
        site.ask("SELECT pg_switch_wal()")
        site.ask("CHECKPOINT")
    with site.kept():
        took = site.wait(lambda: len(bases(site)) > len(before), "no whole copy")
        tell(f"a whole copy {took:.1f} s after the backup is back and has missed a part of the log")
        site.wait_for_news()
        site.wait_for_copy("two")
    done = site.run("-m", "deploy.drill", str(site.backups))
    assert done.returncode == 0, done.stdout


def test_a_backup_goes_on_with_the_server_that_was_restored(site: Site) -> None:
    numbers, before = site.written(), bases(site)
    with site.kept():
        site.wait_for_news()
        site.write(100)
        site.wait_for_news()
    site.server.kill()
    there = site.restore("instead")
    there.server.kill()
    where = site.server.command.index("-D") + 1
    site.server.command[where] = there.server.command[where]
    site.server.start()
    assert site.written() == [*numbers, 100]
    with site.kept():
        took = site.wait(lambda: len(bases(site)) > len(before), "no whole copy")
        assert not (site.backups / "restored").exists()
        tell(f"a whole copy of the restored server after {took:.1f} s")
        site.write(101)
        site.wait_for_news()
        site.wait_for_copy("three")
    again = site.restore("again")
    try:
        assert again.written() == [*numbers, 100, 101]
    finally:
        again.server.kill()
        (site.backups / "restored").unlink()


def newest(folder: Path) -> Path:
    """Return the newest base in a folder."""
    return max((folder / "barman" / "site" / "base").glob("2*"))


def flip(path: Path) -> None:
    """Change one bit in the middle of a file, which is no other's link afterwards."""
    found = bytearray(path.read_bytes())
    found[len(found) // 2] ^= 1
    path.unlink()
    path.write_bytes(found)


def largest(folder: Path) -> Path:
    """Return the largest file in a folder."""
    return max(
        (path for path in folder.rglob("*") if path.is_file()), key=lambda p: p.stat().st_size
    )


def log_since(folder: Path) -> list[Path]:
    """Return what Barman has put away of the log since the newest base began."""
    text = max((folder / "barman" / "site" / "meta").glob("*-backup.info")).read_text()
    [first] = [line.split("=")[1] for line in text.splitlines() if line.startswith("begin_wal=")]
    found = (folder / "barman" / "site" / "wals").glob("*/*")
    return sorted(path for path in found if len(path.name) == 24 and path.name >= first)


def leave_out(copy: Path, name: str) -> None:
    """Have a copy be whole without a file, as of another home."""
    digests = json.loads((copy / "digests.json").read_text())
    (copy / "digests.json").unlink()
    (copy / "digests.json").write_text(json.dumps({k: v for k, v in digests.items() if k != name}))


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "a byte of the base has flipped": (
        lambda f: flip(largest(newest(f) / "data" / "base")),
        "verify",
    ),
    "a file of the base is missing": (
        lambda f: largest(newest(f) / "data" / "base").unlink(),
        "verify",
    ),
    "nobody knows of the base": (
        lambda f: [path.unlink() for path in f.glob("barman/site/meta/*-backup.info")],
        "has no base",
    ),
    "the log has a gap": (lambda f: log_since(f)[0].unlink(), ""),
    "a part of the log is garbage": (lambda f: log_since(f)[0].write_bytes(b"garbage"), ""),
    "the end of the log is missing": (
        lambda f: [path.unlink() for path in f.glob("barman/site/streaming/*")],
        "recovery ended before configured recovery target was reached",
    ),
    "a file is missing": (lambda f: (copies_in(f)[-1] / "home" / "note").unlink(), "is missing"),
    "a byte of a file has flipped": (
        lambda f: flip(copies_in(f)[-1] / "home" / "requester.json"),
        "is not what was copied",
    ),
    "the list of files is missing": (
        lambda f: (copies_in(f)[-1] / "digests.json").unlink(),
        "cannot be read",
    ),
    "the files are of another home": (
        lambda f: leave_out(copies_in(f)[-1], "home/requester.json"),
        "There are no marketplace keys",
    ),
    "there is no copy": (lambda f: shutil.rmtree(f / "copies"), "There is no copy in"),
}


@pytest.fixture(scope="module")
def whole(site: Site) -> Path:
    """Return a folder with a base, a part of the log put away, and a copy after it."""
    with site.kept():
        site.wait_for_news()
        site.ask("SELECT pg_switch_wal()")
        site.write(200)
        site.wait(lambda: log_since(site.backups), "nothing is put away")
        site.wait_for_copy("four")
    return site.backups


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_copy_is_found_when_it_is_restored_and_on_another_path(
    site: Site, whole: Path, tmp_path: Path, kind: str
) -> None:
    folder = tmp_path / "elsewhere"
    subprocess.run(["cp", "-a", whole, folder], check=True)
    damage, said = BROKEN[kind]
    damage(folder)
    done = site.run("-m", "deploy.drill", str(folder))
    tell(f"{kind}: {done.stdout.strip()[:150]}")
    assert done.returncode == 1, done.stdout + done.stderr
    assert said in done.stdout
    assert json.loads((folder / "drill.json").read_text())["problems"]
    assert "Traceback" not in done.stdout + done.stderr


HALVES = {
    "the marketplace's half is missing": (
        "postgres",
        "ALTER DATABASE marketplace RENAME TO aside",
        "ALTER DATABASE aside RENAME TO marketplace",
        "",
    ),
    "the marketplace's half is earlier": (
        "marketplace",
        "CREATE TABLE aside AS TABLE marketplace_hit; DELETE FROM marketplace_hit",
        "INSERT INTO marketplace_hit SELECT * FROM aside; DROP TABLE aside",
        "HITs here alone",
    ),
    "Collector's half is earlier": (
        "collector",
        "CREATE TABLE aside AS TABLE tasks_posting; DELETE FROM tasks_posting",
        "INSERT INTO tasks_posting SELECT * FROM aside; DROP TABLE aside",
        "HITs on the marketplace alone",
    ),
}


@pytest.mark.parametrize("kind", HALVES)
def test_halves_that_do_not_agree_are_found_when_they_are_restored(site: Site, kind: str) -> None:
    database, damage, mend, said = HALVES[kind]
    with site.kept():
        site.wait_for_news()
        site.ask(damage, database)
        try:
            site.wait_for_copy(kind)
        finally:
            site.ask(mend, database)
        done = site.run("-m", "deploy.drill", str(site.backups))
    tell(f"{kind}: {done.stdout.strip()[:150]}")
    assert done.returncode == 1, done.stdout + done.stderr
    assert said in done.stdout
