"""Hostile visitors and commands: a short seeded visit; the rehearsal has twenty thousand."""

from pathlib import Path

import pytest

from tasks.tests.making import make_collection
from tests.hostile.commands import hostile_files, problem_of, wrong_calls
from tests.hostile.settings import hostile_stage
from tests.hostile.visits import visit

__all__ = ["hostile_stage"]
pytestmark = [
    pytest.mark.once,
    pytest.mark.django_db(transaction=True, databases=["default", "marketplace"]),
    pytest.mark.usefixtures("hostile_stage"),
]
REQUESTS = 150


def test_nothing_breaks_whatever_is_sent() -> None:
    found, _ = visit(REQUESTS, seeded=18, pages=15)
    assert found.broken == {}, str(found)
    assert found.counts.total() >= REQUESTS


def test_commands_refuse_in_one_line_what_is_wrong(tmp_path: Path) -> None:
    make_collection(slug="pilot")
    files = hostile_files(tmp_path)
    calls = wrong_calls("create_collection", files)
    assert [(problem, call) for call in calls if (problem := problem_of(call))] == []
