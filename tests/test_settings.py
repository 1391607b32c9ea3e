"""Tests see nothing of a site that is served from the same checkout; what a laptop may is told."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

SHOW = "from django.conf import settings; print(settings.MARKETPLACE_PRIVATE_WEBHOOKS)"


def test_the_home_of_a_site_beside_them_is_not_read() -> None:
    assert settings.HOME != settings.BASE_DIR / "var"


@pytest.mark.parametrize(("url", "may"), [("", "True"), ("https://lab.example", "False")])
def test_only_a_laptop_s_own_programs_hear_of_their_hits_at_private_addresses(
    tmp_path: Path, url: str, may: str
) -> None:
    """Dallinger's listener is on the machine that `make run` serves."""
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "collector.settings",
        "COLLECTOR_HOME": str(tmp_path),
        "COLLECTOR_URL": url,
        "MARKETPLACE_URL": url.replace("lab", "work"),
    }
    command = [sys.executable, "-c", SHOW]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == may, done.stderr
