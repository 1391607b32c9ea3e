"""Live dialogs under a crowd: paired once, told at once, nothing told that is not theirs."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection

from tests import services
from tests.rehearsals import dialogs
from tests.rehearsals.deployed import LIVE, Deployed, deployed
from tests.rehearsals.talking import percentile
from tests.serving import serving
from tests.test_whole_way_dialogs import SMALL, check_release, check_rows, collect

pytestmark = pytest.mark.django_db(transaction=True)


def said(name: str, seconds: list[float]) -> None:
    """Print how long it took most of them."""
    half, most = percentile(seconds, 0.5) * 1000, percentile(seconds, 0.95) * 1000
    print(f"{name}: p50 {half:.0f} ms, p95 {most:.0f} ms, most {max(seconds) * 1000:.0f} ms")


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[Deployed]:
    """Return two web processes with jobs on PostgreSQL and Redis."""
    if connection.vendor == "sqlite":
        pytest.skip("Several web processes want PostgreSQL: run `make rehearse`")
    with services.redis() as redis, deployed(tmp_path, redis) as running:
        yield running


def address(instance: Deployed) -> tuple[str, str]:
    """Return where the sockets are, and whose pages may open them."""
    return instance.socket, instance.origin


def test_a_thousand_arrive_and_everybody_is_paired_once(instance: Deployed) -> None:
    times = dialogs.pairing(instance, address(instance), 1000, 100)
    said("1,000 arrivals at 20/s while 100 dialogs run, second arrival to both told", times)
    assert percentile(times, 0.95) < 0.5


def test_a_hundred_dialogs_are_relayed_at_once(instance: Deployed) -> None:
    before = instance.cpu_seconds(LIVE)
    times = dialogs.relay(instance, address(instance), 100, 40, processes=2)
    spent = (instance.cpu_seconds(LIVE) - before) / len(times)
    said(f"100 dialogs, {len(times)} messages, {spent * 1e6:.0f} µs of CPU each", times)
    assert percentile(times, 0.95) < 0.15


def test_twenty_dialogs_are_relayed_by_the_embedded_default(tmp_path: Path) -> None:
    with serving(tmp_path) as instance:
        url = instance.collector_url
        place = f"{url.replace('http', 'ws')}/hit/socket", url
        times = dialogs.relay(instance, place, 20, 40)
    said(f"20 dialogs on the embedded default, {len(times)} messages", times)
    assert percentile(times, 0.95) < 0.15


def test_no_run_of_the_section_reaches_a_student(instance: Deployed) -> None:
    print(dialogs.secrecy(instance, address(instance), 1000))


def test_a_mixed_dump_becomes_released_dialogs(tmp_path: Path, data: Path) -> None:
    home, out = tmp_path / "home", tmp_path / "release"
    home.mkdir()
    few = {**SMALL, "seeds.min_incoming_links": "1"}
    with serving(home) as instance:
        collect(instance, data / "wiki" / "enwiki-mixed-A-2016.xml.bz2", out, few)
        found = instance.call("tests.test_whole_way_dialogs:rows", "whole")
    check_rows(found)
    check_release(out, found)
