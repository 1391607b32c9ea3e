"""Live dialogs under a crowd: paired once, told at once, nothing told that is not theirs."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection

from tests import services
from tests.rehearsals import dialogs, part_of
from tests.rehearsals.deployed_processes import LIVE, Deployed, deployed
from tests.rehearsals.dialog_crowds import percentile
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
    n_people, n_busy = 2 * part_of(500), part_of(100)
    times = dialogs.pairing(instance, address(instance), n_people, n_busy)
    said(f"{n_people} arrivals at 20/s while {n_busy} dialogs run, second arrival to told", times)
    assert percentile(times, 0.95) < 0.5


def test_a_hundred_dialogs_are_relayed_at_once(instance: Deployed) -> None:
    number, before = part_of(100), instance.cpu_seconds(LIVE)
    times = dialogs.relay(instance, address(instance), number, 40, processes=2)
    spent = (instance.cpu_seconds(LIVE) - before) / len(times)
    said(f"{number} dialogs, {len(times)} messages, {spent * 1e6:.0f} µs of CPU each", times)
    assert percentile(times, 0.95) < 0.15


def test_twenty_dialogs_are_relayed_by_the_embedded_default(tmp_path: Path) -> None:
    number = part_of(20)
    with serving(tmp_path) as instance:
        url = instance.collector_url
        place = f"{url.replace('http', 'ws')}/hit/socket", url
        times = dialogs.relay(instance, place, number, 40)
    said(f"{number} dialogs on the embedded default, {len(times)} messages", times)
    assert percentile(times, 0.95) < 0.15


def test_no_run_of_the_section_reaches_a_student(instance: Deployed) -> None:
    counts = dialogs.secrecy(instance, address(instance), part_of(1000))
    print(f"no run of {dialogs.RUN} words of the section in {counts}")


def test_a_mixed_dump_becomes_released_dialogs(tmp_path: Path, data: Path) -> None:
    home, out = tmp_path / "home", tmp_path / "release"
    home.mkdir()
    few = {**SMALL, "seeds.min_incoming_links": "1"}
    with serving(home) as instance:
        collect(instance, data / "wiki" / "enwiki-mixed-A-2016.xml.bz2", out, few)
        found = instance.call("tests.test_whole_way_dialogs:rows", "whole")
    check_rows(found)
    check_release(out, found)
