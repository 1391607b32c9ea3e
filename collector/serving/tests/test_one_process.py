"""Tests of what a site makes of what its predecessor left: addresses, and rounds cut short."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.utils import timezone

from collector.models import Collection
from collector.serving import one_process
from tasks.tests.making import make_collection, make_corpus

pytestmark = pytest.mark.django_db


@pytest.fixture
def moved(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> list[tuple[str, ...]]:
    """Return the commands that were called; the site has an empty home."""
    called: list[tuple[str, ...]] = []
    settings.HOME = tmp_path
    monkeypatch.setattr(
        one_process,
        "call_command",
        lambda name, *addresses, **options: called.append((name, *addresses)),
    )
    return called


def test_hits_move_from_every_earlier_address_once(moved: list[Any], settings: Any) -> None:
    for port in (8000, 8001, 8002):
        settings.COLLECTOR_URL = f"http://localhost:{port}"
        one_process.prepare()
    moved.clear()
    one_process.adopt_moved_hits()
    assert moved == [
        ("move_questions", f"http://localhost:{port}", "http://localhost:8002")
        for port in (8000, 8001)
    ]
    moved.clear()
    one_process.adopt_moved_hits()
    assert moved == []


def test_a_site_that_stays_where_it_was_moves_nothing(moved: list[Any]) -> None:
    one_process.prepare()
    moved.clear()
    one_process.adopt_moved_hits()
    assert moved == []


def test_two_sites_of_one_host_name_are_refused_before_anything_is_changed(
    moved: list[Any], settings: Any
) -> None:
    settings.COLLECTOR_HOST = settings.MARKETPLACE_HOST = "lab.example"
    with pytest.raises(ImproperlyConfigured, match=r"both have the host lab\.example"):
        one_process.prepare()
    assert moved == []


def test_a_round_that_was_stopped_half_way_holds_up_nobody(moved: list[Any]) -> None:
    collection = make_collection(make_corpus())
    later = timezone.now() + timedelta(minutes=1)
    Collection.objects.filter(pk=collection.pk).update(maintained_until=later)
    one_process.prepare()
    collection.refresh_from_db()
    assert collection.maintained_until is None
