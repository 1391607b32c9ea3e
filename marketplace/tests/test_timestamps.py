"""The database's epoch seconds are those that Python would have written."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from marketplace.models import HIT
from marketplace.operations.hits import Epoch

NEW_YEAR = datetime(2027, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("microseconds", [0, 1_000, 123_000, 123_456, 999_400])
def test_times_are_exact_to_milliseconds(rita: Any, make_hit: Any, microseconds: int) -> None:
    make_hit(rita)
    time = NEW_YEAR + timedelta(microseconds=microseconds)
    HIT.objects.update(expires_at=time, disposed_at=None)
    found = HIT.objects.values_list(Epoch("expires_at"), Epoch("disposed_at")).get()
    assert found == (round(time.timestamp(), 3), None)
