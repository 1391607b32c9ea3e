"""A real book goes the way that twenty go at rehearsals."""

from pathlib import Path
from typing import Any

import pytest

from tests.whole_way_books import walk, without_marketplace

pytestmark = [pytest.mark.data, pytest.mark.django_db]
SHORTEST = ("The-Cask-of-Amontillado_1063",)


def test_a_book_is_ranked_labelled_adjudicated_and_released(
    data: Path, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_marketplace(tmp_path, settings, monkeypatch)
    found = walk(data, tmp_path, SHORTEST, n_books=1, n_questions=28, percent=50)
    assert found["adjudicated"] > 0
