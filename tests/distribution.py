"""Which tests share a worker, which begin first, and which need no second database."""

from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

# One instance is served, and one browser is open, for all tests of these folders.
TOGETHER = ("tests/browser/",)
# What waits for browsers and other processes begins first: everything else fills that time.
FIRST = ("browser", "once", "data")
# What shows, reports, splits or releases rows that others have written asks little of a database,
# so the suite has it on SQLite alone. On PostgreSQL it runs at rehearsals; in the suite, every
# page is opened there by hostile visitors, and every protocol goes one whole way.
SHOWN = (
    "annotation/dashboard/",
    "annotation/management/",
    "annotation/mturk_import/",
    "annotation/protocols/",
    "annotation/rehearsal/",
    "annotation/release/",
    "annotation/replay/",
    "annotation/reports/",
    "annotation/splits/",
    "readers/",
    "collector/candidates/",
    "collector/graph/",
    "collector/ingest/books/tests/test_real_books.py",
    "collector/ingest/tests/test_fuzzing.py",
    "collector/ingest/tests/test_real_dumps.py",
    "collector/retrieval/",
    "marketplace/tests/test_desk_",
    "marketplace/tests/test_old_links.py",
    "marketplace/tests/test_published_scripts.py",
)
WHOLE_WAYS = (
    "annotation/protocols/hotpotqa/tests/test_release.py",
    "annotation/protocols/quac/tests/test_whole_way.py",
)


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


def is_shown(nodeid: str) -> bool:
    """Return whether a test with a database needs no second one in the suite."""
    return nodeid.startswith(SHOWN) and not nodeid.startswith(WHOLE_WAYS)


def begin_with_the_slow(items: list[pytest.Item]) -> None:
    """Put units with tests that wait to the front; the order within a unit stays."""
    ranks: dict[str, int] = {}
    for item in items:
        marks = {mark.name for mark in item.iter_markers()}
        rank = next((n for n, name in enumerate(FIRST) if name in marks), len(FIRST))
        unit = unit_of(item.nodeid)
        ranks[unit] = min(rank, ranks.get(unit, rank))
    items.sort(key=lambda item: ranks[unit_of(item.nodeid)])
