"""Tests of bars."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from annotation.dashboard.lists import segments


@given(st.lists(st.integers(-10, 1000), max_size=4), st.integers(-5, 500))
def test_a_bar_never_leaves_its_place(amounts: list[int], whole: int) -> None:
    found = segments([(str(number), amount) for number, amount in enumerate(amounts)], whole)
    assert all(segment.width > 0 or segment.width == 0.0 for segment in found)
    assert sum(segment.width for segment in found) <= 100.1
    assert all(one.x <= other.x for one, other in pairwise(found))


def test_parts_lie_side_by_side() -> None:
    done, live = segments([("done", 25), ("none", 0), ("live", 50)], 100)
    assert (done.name, done.x, done.width) == ("done", 0, 25)
    assert (live.name, live.x, live.width) == ("live", 25, 50)
