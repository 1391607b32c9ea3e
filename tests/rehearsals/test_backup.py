"""Copies of a site on PostgreSQL: what happens to server and backup, and what comes back of them.

They run as whoever owns the home, which PostgreSQL wants not to be root.
"""

import json
import os
import pwd
import shutil
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

PATIENCE_SECONDS = 120.0
# Barman, in whatever environment of its own.
PLACES = f"{ROOT / '.barman' / 'bin'}:{os.environ.get('BARMAN', '')}:{os.environ['PATH']}"
PUBLISH = """
import django; django.setup()
from django.utils import timezone
from tasks.posting import hits
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
        subprocess.run([*prepare, f"{self.address}/postgres"], check=True, capture_output=True)
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
            log = (self.folder / "backup.log").read_text()[-3000:]
            assert time.monotonic() - began < PATIENCE_SECONDS, f"{what}: {self.told()}\n{log}"
            time.sleep(0.2)
        return time.monotonic() - began

    def wait_for_news(self) -> float:
        """Return after how long everything was known to be in the copies again."""
        now = time.time()
        return self.wait(lambda: self.told().get("as_of", 0) > now, "nothing is kept")

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
        (site.home / "note").write_text("one")
        site.wait(lambda: (copies_in(site.backups)[-1] / "home" / "note").exists(), "no copy")
        copy = copies_in(site.backups)[-1].name
        site.wait_for_news()
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
