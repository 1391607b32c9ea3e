"""The dashboard that most tests begin at, open without a password."""

from typing import Any

import pytest
from django.test import Client

from annotation.dashboard.tests.making import make_browser
from collector.models.accounts import owner


@pytest.fixture
def rita(db: None, settings: Any) -> Client:
    """Return Rita's browser on a dashboard that opens without a password."""
    settings.PASSWORDLESS_SIGN_IN = True
    browser = make_browser()
    # Signing in costs queries of its own: tests that count them begin after it.
    browser.force_login(owner())
    return browser
