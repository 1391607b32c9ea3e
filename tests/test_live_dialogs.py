"""The rehearsals of live dialogs in short: few people, the embedded default, nothing timed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rehearsals import dialogs
from tests.serving import Instance, serving


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[Instance]:
    """An instance served as `manage.py run` does it."""
    with serving(tmp_path) as running:
        yield running


def address(instance: Instance) -> tuple[str, str]:
    """Return where the sockets are, and whose pages may open them."""
    return f"{instance.collector_url.replace('http', 'ws')}/hit/socket", instance.collector_url


def test_everybody_who_comes_is_paired_once(instance: Instance) -> None:
    assert len(dialogs.pairing(instance, address(instance), 16, 2, rate=8, processes=2)) == 8


def test_no_run_of_the_section_reaches_a_student(instance: Instance) -> None:
    counts = dialogs.secrecy(instance, address(instance), 10, rate=4, processes=1)
    assert counts["turns"] > 20
