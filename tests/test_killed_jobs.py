"""Long work that is killed is finished once by whoever comes next, or given up with a sentence."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.killed_jobs import KINDS
from tests.migrated_databases import ROOT
from tests.serving import SETTINGS


def killed(kind: str, home: Path, every: int) -> int:
    """Return at how many points it was killed; what was left each time was right."""
    command = [sys.executable, "-m", "tests.killed_jobs", kind, str(home), str(every)]
    # It has SQLite files of its own, whatever the tests beside it run on.
    kept = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    done = subprocess.run(command, cwd=ROOT, env=kept, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["wrong"] == {}, done.stderr
    return int(found["killed"])


@pytest.mark.once
@pytest.mark.django_db
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_killed_is_finished_once_or_given_up(kind: str, tmp_path: Path) -> None:
    assert killed(kind, tmp_path / "home", 100) > 1
