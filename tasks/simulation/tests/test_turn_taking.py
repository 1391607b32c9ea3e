"""Turns go round: whoever waited longest comes next, nobody is in two places."""

from tasks.simulation.crowd import Turns


def test_everybody_has_a_turn_before_anybody_has_two() -> None:
    now = [0.0]
    turns = Turns(3, lambda: now[0])
    taken = []
    for _ in range(6):
        number = turns.take()
        assert number is not None
        taken.append(number)
        now[0] += 1
        turns.give_back(number, 0)
    assert taken == [0, 1, 2, 0, 1, 2]


def test_nobody_works_with_two_threads_at_once() -> None:
    turns = Turns(1, lambda: 0.0)
    assert turns.take() == 0
    assert turns.n_busy == 1
    assert turns.take() is None


def test_who_rests_is_left_alone_until_woken() -> None:
    turns = Turns(1, lambda: 0.0)
    assert turns.take() == 0
    turns.give_back(0, 5)
    assert turns.take() is None
    turns.wake()
    assert turns.take() == 0
