"""What an earlier version left is moved whole: pages open, work goes on, releases are the same."""

import re
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import httpx
import pytest

from tests.migrated_databases import made, names_of
from tests.old_home import RELEASED, digests, unpack
from tests.services import free_port
from tests.serving import Instance

SLUGS = sorted({name.split("/")[0].removesuffix("-private") for name in RELEASED})
# Of each site, those that are met first: of more rows the others say the same.
MOST_PAGES = 40
STEPS = "tests.test_old_home"
AT_WORK = "Ada Lovelace"


@contextmanager
def instance_of(home: Path, settings: dict[str, str]) -> Iterator[Instance]:
    """Yield an instance that is not served yet, of a home that is there already."""
    instance = Instance(home, free_port(), settings)
    try:
        yield instance
    finally:
        instance.close()
        instance.stop(signal.SIGTERM)


@pytest.mark.pure
def test_an_old_home_goes_on(tmp_path: Path) -> None:
    home = tmp_path / "home"
    unpack(home)
    with instance_of(home, {"DATABASE_URL": "", "MARKETPLACE_DATABASE_URL": ""}) as instance:
        instance.start()
        check(instance, tmp_path / "releases")


@pytest.mark.once
@pytest.mark.django_db(transaction=True)
def test_old_databases_on_a_server_go_on(tmp_path: Path) -> None:
    home = tmp_path / "home"
    unpack(home)
    with instance_of(home, made(*names_of("old_home"))) as instance:
        instance.call("tests.old_home:fill_databases", str(home))
        instance.start()
        check(instance, tmp_path / "releases")


@pytest.mark.pure
def test_tables_of_a_version_too_old_to_migrate_are_refused(tmp_path: Path) -> None:
    unpack(tmp_path)
    with closing(sqlite3.connect(tmp_path / "collector.sqlite3")) as database:
        database.execute("DELETE FROM django_migrations WHERE name = '0031_given_names'")
        database.commit()
    with (
        instance_of(tmp_path, {"DATABASE_URL": "", "MARKETPLACE_DATABASE_URL": ""}) as instance,
        pytest.raises(AssertionError, match="made by an earlier version"),
    ):
        instance.run("migrate")
    with closing(sqlite3.connect(tmp_path / "collector.sqlite3")) as database:
        names = database.execute("SELECT name FROM django_migrations WHERE app = 'tasks'")
        assert ("0001_initial",) not in names.fetchall()


def check(instance: Instance, releases: Path) -> None:
    """Release everything again, open every page that others lead to, and end what was begun."""
    for slug in SLUGS:
        instance.run("export_dataset", slug, "--out", str(releases / slug))
    assert digests(releases) == RELEASED
    for slug in SLUGS:
        assert "simulated work" in instance.run("report", slug)
    opened = [*pages(instance.collector_url, "/"), *pages(instance.marketplace_url, "/desk/")]
    assert [page for page in opened if page[1] != 200] == []
    assert len(opened) > MOST_PAGES
    assert instance.call(f"{STEPS}:go_on") == "submitted"


def pages(site: str, first: str) -> Iterator[tuple[str, int]]:
    """Yield path and status of the pages that a requester comes to from the first one."""
    ahead, seen = [first], {first}
    with httpx.Client(timeout=60, follow_redirects=True) as browser:
        while ahead and len(seen) - len(ahead) < MOST_PAGES:
            path = ahead.pop(0)
            reply = browser.get(site + path)
            yield path, reply.status_code
            if not reply.headers["content-type"].startswith("text/html"):
                continue
            for link in re.findall(r'href="([^"#?]+)', reply.text):
                found = urlsplit(urljoin(str(reply.url), link))
                if site.endswith(found.netloc) and found.path not in seen:
                    seen.add(found.path)
                    if not found.path.startswith("/static/"):
                        ahead.append(found.path)


def go_on() -> str:
    """Hand in what a worker had written before (runs on the instance); return what became of it."""
    from django.conf import settings

    from tasks.simulation.browser import Browser
    from tasks.simulation.worker import SimulatedWorker

    browser = Browser(settings.MARKETPLACE_URL)
    worker = SimulatedWorker(AT_WORK, browser, lambda state, _: dict(state["draft"]["data"]))
    worker.sign_in()
    # Nothing is offered but what is in hand already.
    return worker.turn({}, 0.0)
