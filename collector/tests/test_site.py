"""Tests of what a site remembers of its own addresses."""

from pathlib import Path
from typing import Any

import pytest

from collector import site


@pytest.fixture
def moved(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> list[tuple[str, ...]]:
    """Return the commands that were called; the site has an empty home."""
    called: list[tuple[str, ...]] = []
    settings.HOME = tmp_path
    monkeypatch.setattr(
        site, "call_command", lambda name, *addresses, **options: called.append((name, *addresses))
    )
    return called


def test_hits_move_from_every_earlier_address_once(moved: list[Any], settings: Any) -> None:
    for port in (8000, 8001, 8002):
        settings.COLLECTOR_URL = f"http://localhost:{port}"
        site.prepare()
    moved.clear()
    site.move_in()
    assert moved == [
        ("move_questions", f"http://localhost:{port}", "http://localhost:8002")
        for port in (8000, 8001)
    ]
    moved.clear()
    site.move_in()
    assert moved == []


def test_a_site_that_stays_where_it_was_moves_nothing(moved: list[Any]) -> None:
    site.prepare()
    moved.clear()
    site.move_in()
    assert moved == []
