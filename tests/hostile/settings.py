"""The settings under which hostile visitors knock: nobody is let in without signing in."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from marketplace import clock
from tasks.tests.making import write_keys


@pytest.fixture
def hostile_stage(settings: Any, tmp_path: Path) -> Iterator[None]:
    """Set the stage for one visit."""
    write_keys(tmp_path, settings)
    settings.PASSWORDLESS_SIGN_IN = settings.MARKETPLACE_OPEN_DESK = False
    settings.MARKETPLACE_OPEN_SIGN_IN = True
    settings.MARKETPLACE_BASE_URL = ""
    settings.MARKETPLACE_DEFAULT_BALANCE_CENTS = 1_000_000
    settings.MARKETPLACE_DELIVER_EVENTS = False
    settings.SUBMIT_ORIGINS = ["http://127.0.0.1:8000"]
    settings.RELEASES = tmp_path / "releases"
    with clock.shifted():
        yield
