"""Drives the whole product through a real Chromium, as people use it."""

import pytest

# They bring their own databases, so they run once; those that share an instance share a worker.
ONCE = [pytest.mark.browser, pytest.mark.pure]
EVERY_TEST = [*ONCE, pytest.mark.xdist_group("browser")]
pytest.register_assert_rewrite("tests.browser.row_assertions")
