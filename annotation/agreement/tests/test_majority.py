"""The largest group of equal votes."""

from itertools import combinations
from operator import eq

from hypothesis import given
from hypothesis import strategies as st

from annotation.agreement.decision import largest_group


@given(st.lists(st.sampled_from("abc"), max_size=9))
def test_of_equal_votes_the_group_is_the_most_frequent_one_that_began_first(
    votes: list[str],
) -> None:
    most = max(votes, key=votes.count, default="")
    assert largest_group(votes, eq) == tuple(i for i, vote in enumerate(votes) if vote == most)


@given(st.lists(st.booleans(), min_size=21, max_size=21))
def test_where_votes_agree_by_pairs_nobody_misses_a_larger_group(pairs: list[bool]) -> None:
    together = {pair for pair, same in zip(combinations(range(7), 2), pairs, strict=True) if same}
    every = [
        group
        for size in range(1, 8)
        for group in combinations(range(7), size)
        if together.issuperset(combinations(group, 2))
    ]
    found = largest_group(range(7), lambda one, other: (one, other) in together)
    assert found == min(every, key=lambda group: (-len(group), group))


def test_thirty_who_say_the_same_are_found_at_once() -> None:
    assert largest_group("a" * 30, eq) == tuple(range(30))
    assert largest_group([], eq) == ()
