"""What every test may count on: a marketplace that is there, real data where it is, no internet."""

import gc
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from collector.ingest.books import parsing
from collector.ingest.documents import files, reading
from collector.processes import in_order, in_processes
from tasks.crowd import marketplace, requester_api
from tests import recorded_rows
from tests.distribution import Distribution, begin_with_the_slow, is_shown

# A busy machine is no fault of the code: no example is timed.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
# What gives a test a database, besides the mark.
DATABASES = {"db", "transactional_db", "live_server"}
COMMITTING = DATABASES - {"db"}


def pytest_configure() -> None:
    """Spare thousands of tests what only a served site needs: slow hashes, a list of all files.

    Each process of tests has a home of its own, as it has databases: what one has no rows for is
    another's, and would be removed.
    """
    from django.conf import settings as site

    site.HOME = site.HOME / os.environ.get("PYTEST_XDIST_WORKER", "")
    site.HOME.mkdir(parents=True, exist_ok=True)
    site.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    site.WHITENOISE_AUTOREFRESH = True


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[Any]:
    """Keep what is collected out of every later search for garbage: all of it stays to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what asks for no database as pure; refuse a test that would run on none at all.

    See tests/__main__.py.
    """
    for item in items:
        if not item.get_closest_marker("django_db") and not DATABASES & {*item.fixturenames}:
            item.add_marker(pytest.mark.pure)
        if item.get_closest_marker("once") and item.get_closest_marker("pure"):
            raise pytest.UsageError(f"{item.nodeid} is marked once and pure, so it never runs.")
        if is_shown(item.nodeid) and not item.get_closest_marker("once"):
            item.add_marker(pytest.mark.shown)
    begin_with_the_slow(items)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hand out whole files; see tests/distribution.py."""
    return Distribution(config, log)


@pytest.fixture(scope="session", autouse=True)
def _one_process_reads_files() -> Iterator[None]:
    """Keep the process that reads files from one test to the next: to start it takes a second."""
    executor = ProcessPoolExecutor(1, get_context("spawn"))

    def kept(
        processes: int, read: Any, work: Iterator[Any], start: Any = None, *given: Any
    ) -> Iterator[Any]:
        if processes > 1:
            yield from in_processes(processes, read, work, start, *given)
            return
        if start:
            executor.submit(start, *given).result()
        yield from in_order(executor, read, work, 2)

    with pytest.MonkeyPatch.context() as patch:
        for module in (files, reading, parsing):
            patch.setattr(module, "in_processes", kept)
        yield
    executor.shutdown()


@pytest.fixture(autouse=True)
def _everybody_answers() -> Iterator[None]:
    """Leave no test the pause that another one's absent marketplace has brought about."""
    yield
    requester_api._absence.cache_clear()
    marketplace._said.clear()


@pytest.fixture(autouse=True)
def _nothing_recorded_is_committed(request: pytest.FixtureRequest) -> None:
    """Have rows made anew after a test that commits: what it has left in memory goes by keys."""
    mark = request.node.get_closest_marker("django_db")
    if COMMITTING & {*request.fixturenames} or (mark and mark.kwargs.get("transaction")):
        recorded_rows.forget()


@pytest.fixture(scope="session")
def data() -> Path:
    """Return the folder of real data; skips where COLLECTOR_DATA does not name one."""
    folder = os.environ.get("COLLECTOR_DATA", "")
    if not folder:
        pytest.skip("COLLECTOR_DATA names no folder of real data")
    return Path(folder)


@pytest.fixture(scope="session")
def papers(data: Path) -> Path:
    """Return the folder with the texts of the papers; skips where none is beside the real data."""
    folder = data.resolve().parent / "papers"
    if not folder.is_dir():
        pytest.skip(f"There are no papers at hand: put their texts into {folder}")
    return folder
