"""Nobody else on the machine reads what is stored: databases, keys, and what lies beside them."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from common.safe_files import private_path, private_text
from tests.serving import ROOT, SETTINGS

pytestmark = pytest.mark.pure
LOAD = "import django; django.setup(); from django.core.management import call_command;"
MIGRATE = {
    "collector": f"{LOAD} call_command('migrate', 'contenttypes', verbosity=0)",
    "marketplace": f"{LOAD} call_command('migrate', 'marketplace', '0001', "
    "database='marketplace', verbosity=0)",
}


def load(site: str, home: Path) -> None:
    """Begin a site in this home, with the usual umask, and write to its database."""
    kept = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    given = {
        "DJANGO_SETTINGS_MODULE": f"{site}.settings",
        "COLLECTOR_HOME": str(home),
        "MARKETPLACE_DATA_DIR": str(home),
    }
    subprocess.run(
        [sys.executable, "-c", MIGRATE[site]],
        env={**kept, **given},
        cwd=ROOT,
        check=True,
        umask=0o022,
    )


def modes(folder: Path) -> dict[str, int]:
    """Return the mode of each file in a folder, and of itself."""
    found = {path.name: path for path in folder.iterdir() if path.is_file()}
    return {
        name: stat.S_IMODE(path.stat().st_mode) for name, path in {".": folder, **found}.items()
    }


@pytest.mark.parametrize("site", MIGRATE)
def test_a_new_home_is_its_owners_alone(site: str, tmp_path: Path) -> None:
    home = tmp_path / "deep" / "home"
    load(site, home)
    found = modes(home)
    assert found.pop(".") == 0o700
    assert f"{site}.sqlite3" in found
    assert set(found.values()) == {0o600}, found


def test_what_is_made_inside_is_its_owners_alone_and_what_was_open_is_closed(
    tmp_path: Path,
) -> None:
    umask = os.umask(0o022)
    try:
        folder = private_path(tmp_path / "rehearsals" / "one")
        (tmp_path / "retrieval").mkdir()
        (tmp_path / "serve.pid").write_text("a longer text")
        private_path(tmp_path / "retrieval")
        private_text(tmp_path / "serve.pid", "17")
    finally:
        os.umask(umask)
    for path in (folder, folder.parent, tmp_path / "retrieval"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "serve.pid").stat().st_mode) == 0o600
    assert (tmp_path / "serve.pid").read_text() == "17"


def test_an_older_home_is_closed_and_a_folder_of_others_is_left(tmp_path: Path) -> None:
    home, others = tmp_path / "home", tmp_path / "others"
    load("collector", home)
    home.chmod(0o755)
    (home / "collector.sqlite3").chmod(0o644)
    load("collector", home)
    assert modes(home)["."] == 0o700
    assert modes(home)["collector.sqlite3"] == 0o600
    others.mkdir()
    others.chmod(0o1777)
    load("collector", others)
    assert modes(others)["."] == 0o1777
    assert modes(others)["collector.sqlite3"] == 0o600
