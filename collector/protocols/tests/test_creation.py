"""A collection's random seed: given, 0, or one that nobody can guess."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from collector.graph.tests.making import make_islands
from collector.models import Collection
from tasks.management.commands.create_collection import NOBODY

pytestmark = pytest.mark.django_db


def created(slug: str, protocol: str, **options: Any) -> tuple[int, str]:
    """Return the seed of a new collection, and what the command warned of."""
    said = StringIO()
    own = {"protocol": protocol, "corpus": "islands", "contact": "rita@lab.example"}
    options = {"stdout": StringIO(), **own, **options}
    call_command("create_collection", slug, stderr=said, **options)
    return Collection.objects.get(slug=slug).random_seed, said.getvalue()


def test_where_answers_are_withheld_nobody_can_guess_the_seed(tmp_path: Path) -> None:
    make_islands(tmp_path)
    one, said = created("one", "hotpotqa")
    two, _ = created("two", "hotpotqa")
    assert one != two
    assert min(one, two) > 1 << 32
    assert said == ""
    assert created("three", "iirc") == (0, "")


def test_a_seed_that_can_be_guessed_is_warned_of(tmp_path: Path) -> None:
    make_islands(tmp_path)
    seed, said = created("one", "hotpotqa", seed=7)
    assert seed == 7
    assert "leave --seed out" in said
    assert created("two", "iirc", seed=7) == (7, "")


def test_who_gives_no_address_for_workers_is_warned(tmp_path: Path) -> None:
    make_islands(tmp_path)
    _, said = created("one", "iirc", contact=NOBODY)
    assert "give --contact" in said
