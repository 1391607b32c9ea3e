"""Which tests share a worker of the suite, and which of them begin first."""

from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

# One instance is served, and one browser is open, for all tests of these folders.
TOGETHER = ("tests/browser/",)
# What waits for browsers and other processes begins first: everything else fills that time.
FIRST = ("browser", "once", "data")


class Distribution(LoadScopeScheduling):
    """Hands out whole files, in the order in which they were collected."""

    def __init__(self, config: pytest.Config, log: Any = None) -> None:
        config.option.loadscopereorder = False
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)


def unit_of(nodeid: str) -> str:
    """Return what a worker gets as a whole: the test's file, or its folder."""
    file = nodeid.partition("::")[0]
    return next((folder for folder in TOGETHER if file.startswith(folder)), file)


def begin_with_the_slow(items: list[pytest.Item]) -> None:
    """Put units with tests that wait to the front; the order within a unit stays."""
    ranks: dict[str, int] = {}
    for item in items:
        marks = {mark.name for mark in item.iter_markers()}
        rank = next((n for n, name in enumerate(FIRST) if name in marks), len(FIRST))
        unit = unit_of(item.nodeid)
        ranks[unit] = min(rank, ranks.get(unit, rank))
    items.sort(key=lambda item: ranks[unit_of(item.nodeid)])
