"""Two hundred random collections, lived to their end: none costs more than was said."""

from pathlib import Path
from typing import Any

import pytest

from tests.maximum_totals import check
from tests.rehearsals import part_of

pytestmark = pytest.mark.django_db(databases=["default", "marketplace"])


def test_two_hundred_collections_cost_no_more_than_was_said(
    monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path
) -> None:
    check(monkeypatch, settings, tmp_path, examples=part_of(200), steps=25, start=7)
