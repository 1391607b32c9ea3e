"""Groups of equal votes."""

from operator import eq

from hypothesis import given
from hypothesis import strategies as st

from annotation.agreement.majority import agreeing_groups, largest_group


@given(st.lists(st.sampled_from("abc"), max_size=9))
def test_every_vote_is_in_the_one_group_of_its_equals(votes: list[str]) -> None:
    groups = agreeing_groups(votes, eq)
    assert sorted(index for group in groups for index in group) == list(range(len(votes)))
    assert all(len({votes[index] for index in group}) == 1 for group in groups)
    assert len(groups) == len(set(votes))


def test_nobody_joins_a_group_with_a_member_they_disagree_with() -> None:
    def close(one: int, other: int) -> bool:
        return abs(one - other) <= 1

    assert agreeing_groups([2, 1, 3], close) == [(0, 1), (2,)]


def test_of_equally_large_groups_the_first_counts() -> None:
    assert largest_group(agreeing_groups("abba", eq)) == (0, 3)
    assert largest_group([]) == ()
