"""Fifty simulated workers rehearse a collection that people are at: of it not a byte changes."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from collector.serving import sample
from tests.rehearsals import part_of
from tests.serving import ROOT, serving

pytestmark = pytest.mark.django_db(transaction=True)
DATABASES = ("collector.sqlite3", "marketplace.sqlite3")
# Where a rehearsal keeps what it found.
OWN = "annotation_rehearsal"


def tables_of(home: Path) -> dict[str, list[str]]:
    """Return all rows of every table, and the last numbers given out, by database and name."""
    found = {}
    for database in DATABASES:
        with sqlite3.connect(home / database) as line:
            names = line.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            for (name,) in names.fetchall():
                rows = line.execute(f'SELECT * FROM "{name}"').fetchall()
                if not name.startswith(OWN):
                    found[f"{database} {name}"] = sorted(
                        repr(row) for row in rows if not str(row[0]).startswith(OWN)
                    )
    return found


@pytest.mark.parametrize("protocol", ["iirc", "quac"])
def test_fifty_rehearse_and_not_a_byte_of_the_collection_changes(
    tmp_path: Path, protocol: str
) -> None:
    chosen, home = sample.demos(sample.read_plan())[protocol], tmp_path / "home"
    home.mkdir()
    with serving(home) as instance:
        instance.call("collector.serving.sample:read_corpus", chosen["corpus"])
        instance.call("collector.serving.sample:open_collection", chosen)
        instance.run("simulate", chosen["slug"], "--workers", "4", "--inspect")
        environment = instance.environment
    before = tables_of(home)
    assert before["collector.sqlite3 tasks_submission"]
    assert before["marketplace.sqlite3 marketplace_hit"]
    told = subprocess.run(
        [
            sys.executable,
            "manage.py",
            "rehearse",
            chosen["slug"],
            "--json",
            "--workers",
            f"{part_of(50)}",
        ],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert told.returncode == 0, told.stderr
    assert tables_of(home) == before
    assert list((home / "rehearsals").iterdir()) == []
    found = json.loads(told.stdout)
    assert found["workers"] == part_of(50)
    assert found["kept"] > 0
    assert [each for each in found["problems"] if each["kind"] in ("stuck", "jobs", "time")] == []
