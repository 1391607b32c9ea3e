"""The open desk that most tests sit at."""

from typing import Any

import pytest
from django.test import Client

from annotation.dashboard.tests.making import make_browser
from collector.accounts import owner


@pytest.fixture
def rita(db: None, settings: Any) -> Client:
    """Return Rita's browser at a desk that opens without a password."""
    settings.OPEN_DESK = True
    browser = make_browser()
    # Signing in costs queries of its own: tests that count them begin after it.
    browser.force_login(owner())
    return browser
