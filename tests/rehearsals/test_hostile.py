"""Twenty thousand hostile requests to every route, as every role, and to the sockets."""

import os
from pathlib import Path

import pytest

from tasks.tests.making import make_collection
from tests.hostile.commands import hostile_files, names, problem_of, wrong_calls
from tests.hostile.settings import hostile_stage
from tests.hostile.visits import visit
from tests.rehearsals import part_of

__all__ = ["hostile_stage"]
pytestmark = [
    pytest.mark.django_db(transaction=True, databases=["default", "marketplace"]),
    pytest.mark.usefixtures("hostile_stage"),
]
REQUESTS = 20_000
# What ten thousand requests may leave behind once ten thousand were answered.
MOST_GROWTH_BYTES = 40_000_000


def test_nothing_breaks_hangs_or_grows() -> None:
    seeded = int(os.environ.get("HOSTILE_SEED", "1"))
    found, grown = visit(part_of(REQUESTS), seeded, pages=150)
    print(f"\n{found}\n{dict(found.counts)}\n{dict(found.statuses)}\nslowest {found.slowest}")
    print(f"{grown / 1e6:.0f} MB more in the second half")
    assert found.broken == {}, str(found)
    assert found.counts.total() >= part_of(REQUESTS)
    assert grown < MOST_GROWTH_BYTES


def test_every_command_refuses_in_one_line_what_is_wrong(tmp_path: Path) -> None:
    make_collection(slug="pilot")
    files = hostile_files(tmp_path)
    broken, number = {}, 0
    for name in names():
        for call in wrong_calls(name, files):
            number += 1
            if problem := problem_of(call):
                broken.setdefault(f"{name}: {problem[:160]}", call)
    print(f"\n{number} wrong commands")
    for problem, call in broken.items():
        print(problem, "\n    ", [part[:80] for part in call])
    assert broken == {}
    assert number >= 250
