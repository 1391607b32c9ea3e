"""Towns and a collection that draws pairs of them."""

from pathlib import Path
from typing import Any

import pytest

from collector.candidates.tests.making import make_pairs, make_towns
from collector.models import Collection


@pytest.fixture
def pilot(db: None, tmp_path: Path, settings: Any) -> Collection:
    """Return a collection in draft on the corpus of towns; its graphs are in a folder alone."""
    settings.HOME = tmp_path
    return make_pairs(make_towns(tmp_path))
