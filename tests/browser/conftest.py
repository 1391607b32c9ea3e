"""One served instance, one Chromium, and people who sign in to it."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests import services
from tests.browser.person import Person
from tests.serving import Instance, serving

# Where the small protocol lies, whose fields are data.
PROTOCOLS = Path(__file__).resolve().parent.parent / "protocols"
PRACTICE = ("practice", "single")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
Enter = Callable[..., Person]
FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Remember that a test has failed, for what its fixtures do at the end."""
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest.fixture(scope="package")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """Return a whole instance, served from an empty folder, that knows the small protocol too.

    It looks after every collection that is open: see rows.put_away.
    """
    home = tmp_path_factory.mktemp("instance")
    with serving(home, {"COLLECTOR_PROTOCOLS": str(PROTOCOLS)}) as served:
        served.call("tests.browser.rows:read_sample")
        yield served


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """Return the browser; each person gets a context of their own in it.

    It ends with this folder's tests: while its event loop runs, Django refuses to touch databases.
    """
    path = os.environ.get("COLLECTOR_CHROMIUM") or services.chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def enter(instance: Instance, chromium: Browser, request: pytest.FixtureRequest) -> Iterator[Enter]:
    """Return a function that signs somebody in at the marketplace by their name."""
    with entering(instance, chromium, request) as enter:
        yield enter


@contextmanager
def entering(
    instance: Instance, chromium: Browser, request: pytest.FixtureRequest
) -> Iterator[Enter]:
    """Yield a function that opens a browser of their own to somebody, and signs them in.

    When the test fails, what each of them saw last is kept in the instance's folder.
    """
    people: list[Person] = []

    def enter(
        name: str,
        width: int = 1366,
        height: int = 768,
        *,
        sign_in: bool = True,
        locale: str = "en-GB",
        by_touch: bool = False,
    ) -> Person:
        context = chromium.new_context(
            viewport={"width": width, "height": height}, locale=locale, has_touch=by_touch
        )
        person = Person(name, instance, context)
        people.append(person)
        if sign_in:
            person.sign_in()
        return person

    yield enter
    for person in people:
        if request.node.stash.get(FAILED, False):
            person.page.screenshot(path=instance.home / f"{request.node.name}-{person.name}.png")
        person.leave()


@pytest.fixture
def rita(instance: Instance, chromium: Browser) -> Iterator[Page]:
    """Return the requester's own browser, at her desk."""
    context = chromium.new_context(base_url=instance.collector_url, locale="en-GB")
    page = context.new_page()
    page.set_default_timeout(15_000)
    yield page
    context.close()


@pytest.fixture(scope="package")
def practised(instance: Instance) -> Instance:
    """Return the instance with HITs for practice: see rows.open_practice."""
    instance.call("tests.browser.rows:open_practice")
    return instance


@pytest.fixture(scope="module")
def practice(practised: Instance) -> Iterator[Instance]:
    """Return the instance with HITs that everybody may take, looked after meanwhile."""
    practised.call("tests.browser.rows:take_up", *PRACTICE)
    yield practised
    practised.call("tests.browser.rows:put_away", *PRACTICE)
