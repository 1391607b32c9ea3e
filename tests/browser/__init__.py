"""Drives the whole product through a real Chromium, as people use it."""

import pytest

# They bring their own databases, so they run once.
EVERY_TEST = [pytest.mark.browser, pytest.mark.pure]
pytest.register_assert_rewrite("tests.browser.row_assertions")
