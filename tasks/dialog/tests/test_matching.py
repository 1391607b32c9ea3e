"""Nobody is matched twice, with themselves or against their roles; nobody fitting is left over."""

from hypothesis import given
from hypothesis import strategies as st

from tasks.dialog.pairing import PARTNERS, WaitingWorker, match_pairs

NAMES = st.integers(0, 9).map(str)


@st.composite
def queues(draw):
    people = draw(st.lists(st.tuples(NAMES, st.sampled_from([*PARTNERS])), max_size=12))
    return [WaitingWorker(number, name, *roles) for number, (name, roles) in enumerate(people)]


@given(queues(), st.dictionaries(NAMES, st.sets(NAMES)))
def test_everybody_who_fits_somebody_left_is_matched_once(queue, avoided):
    pairs = match_pairs(queue, avoided)
    matched = [each.ticket for pair in pairs for each in pair]
    assert len(set(matched)) == len(matched)
    for one, other in pairs:
        assert fit(one, other, avoided)
    left = [each for each in queue if each.ticket not in matched]
    assert not any(fit(one, other, avoided) for one in left for other in left if one is not other)


def fit(one, other, avoided):
    later = max(one, other, key=lambda each: each.ticket)
    earlier = min(one, other, key=lambda each: each.ticket)
    roles = (one.can_ask and other.can_teach) or (other.can_ask and one.can_teach)
    apart = earlier.worker == later.worker or earlier.worker in avoided.get(later.worker, ())
    return roles and not apart


def test_whoever_came_first_is_matched_with_whoever_came_next():
    queue = [WaitingWorker(number, str(number), True, True) for number in range(5)]
    pairs = [(one.ticket, other.ticket) for one, other in match_pairs(queue, {})]
    assert pairs == [(0, 1), (2, 3)]


def test_many_of_one_role_wait_for_many_of_the_other():
    askers = [WaitingWorker(number, f"a{number}", True, False) for number in range(3000)]
    teachers = [WaitingWorker(3000 + number, f"t{number}", False, True) for number in range(3000)]
    assert len(match_pairs([*askers, *teachers], {})) == 3000
