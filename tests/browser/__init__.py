"""Drives the whole product through a real Chromium, as people use it."""

import pytest

# One worker runs all of them, one after the other, and only once: they bring their own databases.
EVERY_TEST = [pytest.mark.browser, pytest.mark.pure, pytest.mark.xdist_group("browser")]
pytest.register_assert_rewrite("tests.browser.kept")
