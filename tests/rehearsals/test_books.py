"""Twenty books and their 586 questions go the whole way in one run."""

from pathlib import Path
from typing import Any

import pytest

from tests.labelled_books import ACCURACIES
from tests.whole_way_books import FACETS, walk, without_marketplace

pytestmark = pytest.mark.django_db


def test_twenty_books_are_ranked_labelled_adjudicated_and_released(
    data: Path, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_marketplace(tmp_path, settings, monkeypatch)
    found = walk(data, tmp_path, (), n_books=20, n_questions=586)
    for name, value in found.items():
        print(f"{name}: {value}")
    for depth in (3, 5, 10):
        # In so many of 10,000 subsets the oracle is no better than BM25: presence, ROUGE-L.
        oracle = found["ranked"]["Oracle", depth]
        assert max(float(oracle[2]), float(oracle[6])) < 0.01
    # Of all intervals that the labels alone give, so many hold how often a labeller is right.
    assert found["held"] >= 0.8 * len(FACETS) * len(ACCURACIES)
    # Nine HITs of ten pairs, each by three of five: every two people have one at least in common.
    assert sum(found["shared"]) == 3 * 90
    assert min(found["shared"]) >= 10
