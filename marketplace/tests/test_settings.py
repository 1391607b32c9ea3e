"""Served alone, the marketplace reads every setting that its README names."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.pure
README = Path(__file__).resolve().parent.parent / "README.md"
TOLD = re.findall(r"^\| `(MARKETPLACE_\w+)` \|", README.read_text("utf-8"), re.MULTILINE)
# What a setting that is read turns a value into; all others keep a word as it is.
GIVEN = {"1": 1, "yes": True}
WORDS = "words that nobody else will guess"
NUMBERS = ("CAP", "LIMIT", "CENTS", "DAYS", "SECOND")
FLAGS = ("OPEN_SIGN_IN", "OPEN_DESK", "DELIVER_EVENTS", "PRIVATE_WEBHOOKS", "STATIC")
GIVEN_BY_END = {NUMBERS: "1", FLAGS: "yes", ("FORMAT",): "json", ("CURRENCY",): "EUR"}
SHOW = """
import json
from django.conf import settings
print(json.dumps({name: getattr(settings, name, None) for name in NAMES}))
"""


def settings_with(folder: Path, given: dict[str, str]) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if "MARKETPLACE" not in name}
    environment |= {"DJANGO_SETTINGS_MODULE": "marketplace.settings", **given}
    environment["MARKETPLACE_DATA_DIR"] = str(folder)
    script = SHOW.replace("NAMES", repr(TOLD))
    command = [sys.executable, "-c", script]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def test_every_setting_of_the_readme_is_read(tmp_path: Path) -> None:
    assert len(TOLD) > 12
    given = {
        name: next((word for ends, word in GIVEN_BY_END.items() if name.endswith(ends)), WORDS)
        for name in TOLD
    }
    done = settings_with(tmp_path, given)
    assert done.returncode == 0, done.stderr
    expected = {name: GIVEN.get(value, value) for name, value in given.items()}
    assert json.loads(done.stdout) == expected


@pytest.mark.parametrize(("hosts", "may"), [("", True), ("work.lab.example", False)])
def test_only_a_laptop_s_own_programs_hear_events_at_private_addresses(
    tmp_path: Path, hosts: str, may: bool
) -> None:
    done = settings_with(tmp_path, {"MARKETPLACE_HOSTS": hosts} if hosts else {})
    assert json.loads(done.stdout)["MARKETPLACE_PRIVATE_WEBHOOKS"] is may


def test_a_number_that_is_none_is_refused_by_name(tmp_path: Path) -> None:
    done = settings_with(tmp_path, {"MARKETPLACE_QUEUE_LIMIT": "many"})
    assert done.returncode == 1
    assert "MARKETPLACE_QUEUE_LIMIT='many': write a whole number." in done.stderr


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("MARKETPLACE_DATABASE_URL", "oracle://h/x", "use sqlite:///FILE or postgres://"),
        ("MARKETPLACE_SMTP_URL", "mail.example:25", "write smtp://"),
        ("MARKETPLACE_MAIL_FROM", "nobody", "such as work@lab.example"),
        ("MARKETPLACE_OPEN_DESK", "perhaps", "MARKETPLACE_OPEN_DESK='perhaps': write yes or no."),
        ("MARKETPLACE_SESSION_DAYS", "-1", "greater than or equal to 0"),
    ],
)
def test_what_means_nothing_is_refused_in_one_line(
    tmp_path: Path, name: str, value: str, told: str
) -> None:
    done = settings_with(tmp_path, {name: value})
    assert done.returncode == 1
    assert name in done.stderr
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_style_and_scripts_that_pages_name_are_collected_under_names_of_their_content(
    tmp_path: Path,
) -> None:
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "marketplace.settings"}
    environment |= {"MARKETPLACE_DATA_DIR": str(tmp_path), "MARKETPLACE_HASHED_STATIC": "yes"}
    command = [sys.executable, "-m", "marketplace", "collectstatic", "--no-input"]
    root = README.parent.parent
    done = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    kept = json.loads((tmp_path / "static" / "staticfiles.json").read_text("utf-8"))["paths"]
    for page in (root / "marketplace" / "templates").rglob("*.html"):
        for name in re.findall(r"{% static '([^']+)' %}", page.read_text("utf-8")):
            assert (tmp_path / "static" / kept[name]).is_file()
            assert re.search(r"\.[0-9a-f]{12}\.\w+$", kept[name])
