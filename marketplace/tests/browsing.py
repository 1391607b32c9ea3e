"""A real Chromium at the marketplace, and what its pages must be in it."""

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, sync_playwright

from marketplace.tests.conftest import DATABASES

RUN = "async () => (await axe.run({iframes: false, resultTypes: ['violations']})).violations"
EVERY_TEST = [
    pytest.mark.browser,
    pytest.mark.django_db(databases=DATABASES, transaction=True),
]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser, by whatever name the machine has one."""
    found = os.environ.get("COLLECTOR_CHROMIUM") or shutil.which("chromium")
    arguments = ["--no-sandbox", "--disable-gpu"]
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        # Playwright runs a loop in this thread; the rows are still only used from here.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        yield (browser := playwright.chromium.launch(executable_path=found, args=arguments))
        browser.close()


@pytest.fixture
def page(chromium: Browser, live_server: Any) -> Iterator[Any]:
    """A browser's page at the marketplace, 1366 by 768."""
    context = chromium.new_context(
        base_url=f"http://127.0.0.1:{live_server.thread.port}",
        viewport={"width": 1366, "height": 768},
        reduced_motion="reduce",
    )
    yield context.new_page()
    context.close()


def faults(page: Any) -> list[str]:
    """Return what axe finds serious on this page, the requester's frame left out."""
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(Axe().axe_script)
    return [
        f"{page.url} {one['id']}: {one['nodes'][0]['html']}"
        for one in page.evaluate(RUN)
        if one["impact"] in ("serious", "critical")
    ]


def faults_at(page: Any, light: int, dark: int) -> list[str]:
    """Return what axe finds in light and in dark, each at a width, and what is wider than that."""
    found = []
    for scheme, width in (("light", light), ("dark", dark)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 768})
        found += [f"{scheme}: {fault}" for fault in faults(page)]
        wide = page.evaluate("document.documentElement.scrollWidth")
        found += [f"{page.url} is {wide} pixels wide at {width}"] * (wide > width)
    return found


def sign_in(page: Any) -> None:
    """Come in as Ada."""
    page.goto("/")
    page.get_by_label("Your name").fill("Ada")
    page.get_by_role("button", name="Work as a worker").click()
    page.wait_for_url("**/hits/")
