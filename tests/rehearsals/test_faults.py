"""The suite notices faults: each is put into a copy of the project, and a test of it must fail."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.rehearsals.faults import FAULTS, Fault
from tests.serving import ROOT

LEFT_OUT = shutil.ignore_patterns(".*", "var", "releases", "__pycache__", "node_modules")
# Of two who come at once, SQLite lets one wait: a lost race shows on PostgreSQL alone.
DATABASES = ("DATABASE_URL", "MARKETPLACE_DATABASE_URL")
FAILED = re.compile(r"^FAILED (\S+)", re.MULTILINE)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the project, where each fault has its hour."""
    return Path(shutil.copytree(ROOT, tmp_path_factory.mktemp("faults") / "copy", ignore=LEFT_OUT))


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_is_noticed(fault: Fault, copy: Path) -> None:
    path = copy / fault.path
    right = path.read_text()
    rewrite(path, right.replace(fault.right, fault.wrong, 1))
    try:
        done = run_tests(copy, fault.tests.split())
    finally:
        rewrite(path, right)
    found = FAILED.search(done.stdout)
    assert done.returncode == 1, f"It passes unnoticed: {done.stdout[-2000:]}"
    assert found, done.stdout[-2000:]
    print(f"{fault.name}: {found[1]}")


def rewrite(path: Path, text: str) -> None:
    """Change a file so that what was compiled of it is out of date, even within one second."""
    later = path.stat().st_mtime + 2
    path.write_text(text)
    os.utime(path, (later, later))


def run_tests(copy: Path, tests: list[str]) -> "subprocess.CompletedProcess[str]":
    """Return how tests of the copy went until the first that fails, on databases of their own."""
    databases = {name: f"{url}_faults" for name in DATABASES if (url := os.environ.get(name))}
    environment = {**os.environ, **databases, "COLLECTOR_HOME": str(copy / "var")}
    options = ["-q", "-x", "-n0", "--nomigrations", "-rf", "-m", "not browser"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tests],
        cwd=copy,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
