"""Tests that share fixtures share a worker, and the slow ones begin."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.distribution import SHOWN, TOGETHER, WHOLE_WAYS, is_shown, unit_of
from tests.serving import ROOT

THREE = "import pytest\n@pytest.mark.parametrize('n', range(3))\ndef test_it(n): pass\n"


@pytest.mark.parametrize(
    ("nodeid", "unit"),
    [
        ("tests/test_races.py::test_one[a::b]", "tests/test_races.py"),
        ("tests/browser/test_forms.py::test_one", "tests/browser/"),
        ("tests/browser/test_pairs.py::test_one", "tests/browser/"),
    ],
)
def test_a_file_is_handed_out_as_a_whole_and_a_folder_with_one_browser_too(
    nodeid: str, unit: str
) -> None:
    assert unit_of(nodeid) == unit


def test_workers_get_whole_files_and_the_browsers_first(tmp_path: Path) -> None:
    for name, mark in (("a", ""), ("b", ""), ("c", "pytestmark = pytest.mark.browser\n")):
        (tmp_path / f"test_{name}.py").write_text(THREE + mark)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = browser\n")
    (tmp_path / "conftest.py").write_text(
        "from tests.distribution import Distribution, begin_with_the_slow\n"
        "def pytest_collection_modifyitems(items): begin_with_the_slow(items)\n"
        "def pytest_xdist_make_scheduler(config, log): return Distribution(config, log)\n"
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-v",
        "-n",
        "2",
        "-p",
        "no:django",
        "-p",
        "no:cacheprovider",
    ]
    said = subprocess.run(
        command,
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    ).stdout
    assert "9 passed" in said
    done = [line.split() for line in said.splitlines() if "PASSED" in line]
    workers: dict[str, set[str]] = {}
    for line in done:
        workers.setdefault(line[-1].partition("::")[0], set()).add(line[0])
    assert [len(found) for found in workers.values()] == [1, 1, 1]


@pytest.mark.parametrize("start", [*SHOWN, *TOGETHER, *WHOLE_WAYS])
def test_every_place_that_is_treated_apart_has_tests(start: str) -> None:
    folder, _, name = start.rpartition("/")
    assert [*(ROOT / folder).rglob(f"{name.removesuffix('.py')}*.py" if name else "test_*.py")]


def test_what_shows_rows_is_left_to_sqlite_but_not_a_whole_way() -> None:
    assert is_shown("annotation/dashboard/tests/test_money.py::test_one")
    assert is_shown("marketplace/tests/test_desk_hits.py::test_one")
    assert not is_shown("annotation/protocols/quac/tests/test_whole_way.py::test_one")
    assert not is_shown("tasks/tests/test_payments.py::test_one")
