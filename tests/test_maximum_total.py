"""No collection costs more than its maximum total said, whatever its parameters and people."""

from pathlib import Path
from typing import Any

import pytest

from tests.maximum_totals import check

pytestmark = [
    pytest.mark.django_db(databases=["default", "marketplace"]),
    # A rehearsal lives two hundred.
    pytest.mark.once,
]


def test_no_collection_costs_more_than_was_said(
    monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path
) -> None:
    check(monkeypatch, settings, tmp_path, examples=3, steps=6, start=20)
