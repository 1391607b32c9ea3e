"""A copy of SQLite files is restored in an empty place, and both halves are compared in it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from deploy.backup import Backup
from deploy.copies import copies_in, site_of
from tests import process_groups, services
from tests.migrated_databases import move_into
from tests.serving import ROOT, SETTINGS

PUBLISH = """
import django; django.setup()
from django.utils import timezone
from tasks import hits
from tasks.tests.making import make_collection, stage_of
stage = stage_of(make_collection(seeds=8), "question")
hits.plan_postings(stage, timezone.now(), 3)
assert hits.publish_pending(stage, timezone.now()) == 3
"""


class Home:
    """A home with both databases, and two copies of it: before its three HITs, and after."""

    def __init__(self, folder: Path) -> None:
        self.home, self.backups, port = folder / "home", folder / "backups", services.free_port()
        ours = {*SETTINGS, "DJANGO_SETTINGS_MODULE"}
        self.environment = {
            **{name: value for name, value in os.environ.items() if name not in ours},
            "COLLECTOR_HOME": str(self.home),
            "RELEASES": str(folder / "releases"),
            "PORT": str(port),
            "MARKETPLACE_DATA_DIR": str(self.home),
            "PYTHONPATH": str(ROOT),
        }
        self.home.mkdir()
        move_into(self.home)
        keys = ("--keys-file", str(self.home / "requester.json"))
        market = ("--endpoint-url", f"http://127.0.0.1:{port}")
        self.run("-m", "marketplace", "create_requester", "Rita", *keys, *market)
        self.backup = Backup(site_of(self.environment), self.backups, 7)
        self.backup.look()
        words = ["-m", "uvicorn", "--port", str(port), "--lifespan", "off"]
        served = process_groups.begin(
            [sys.executable, *words, "--log-level", "error", "marketplace.asgi:application"],
            env=self.environment,
            cwd=ROOT,
        )
        try:
            services._wait_for(port, "The marketplace")
            self.run("-c", PUBLISH, DJANGO_SETTINGS_MODULE="collector.settings")
        finally:
            process_groups.end(served)
        self.backup.look()

    def run(self, *words: str, code: int = 0, **more: str) -> str:
        """Return what a command of the site printed."""
        done = subprocess.run(
            [sys.executable, *words],
            env={**self.environment, **more},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Return a home."""
    return Home(tmp_path_factory.mktemp("drill"))


def test_a_copy_is_restored_and_its_halves_agree(home: Home) -> None:
    assert "nothing is wrong." in home.run("-m", "deploy.drill", str(home.backups))
    told = json.loads((home.backups / "drill.json").read_text())
    assert told["problems"] == []
    assert list(home.backups.glob(".drill*")) == []


@pytest.mark.parametrize(
    ("older", "said"),
    [
        ("marketplace.sqlite3", "HITs here alone: HITs are open or undecided here"),
        ("collector.sqlite3", "HITs on the marketplace alone: The marketplace lists HITs"),
    ],
)
def test_halves_from_two_copies_are_found_out(
    home: Home, tmp_path: Path, older: str, said: str
) -> None:
    first, last = copies_in(home.backups)[0], copies_in(home.backups)[-1]
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    shutil.copytree(last / "home", mixed, dirs_exist_ok=True)
    for path in (last / "databases").iterdir():
        half = first if path.name == older else last
        shutil.copy2(half / "databases" / path.name, mixed / path.name)
    given = {**home.environment, "COLLECTOR_HOME": str(mixed)}
    Backup(site_of(given), tmp_path / "backups", 7).look()
    words = home.run("-m", "deploy.drill", str(tmp_path / "backups"), code=1)
    assert said in words
    assert words.count("HIT ") + words.count("posting ") >= 3


def test_a_database_without_rows_and_a_home_without_keys_are_no_copy(
    home: Home, tmp_path: Path
) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    for path in (copies_in(home.backups)[-1] / "databases").iterdir():
        shutil.copy2(path, bare / path.name)
    given = {**home.environment, "COLLECTOR_HOME": str(bare)}
    Backup(site_of(given), tmp_path / "backups", 7).look()
    words = home.run("-m", "deploy.drill", str(tmp_path / "backups"), code=1)
    assert "There are no marketplace keys in" in words
    assert "Traceback" not in words
