"""A socket may send as fast as anybody types, and not as fast as anybody can flood."""

from hypothesis import given
from hypothesis import strategies as st

from tasks.dialog.messages import BURST, PER_SECOND, Flow

PAUSES = st.lists(st.floats(0, 5), max_size=300)


@given(PAUSES)
def test_never_more_than_the_burst_and_the_rate(pauses: list[float]) -> None:
    flow, now, let_through = Flow(), 0.0, 0
    for pause in pauses:
        now += pause
        let_through += not flow.wait_seconds(now)
    assert let_through <= BURST + PER_SECOND * sum(pauses) + 1e-6


@given(PAUSES)
def test_whoever_waits_as_long_as_they_are_told_is_let_through(pauses: list[float]) -> None:
    flow, now = Flow(), 0.0
    for pause in pauses:
        now += pause
        wait = flow.wait_seconds(now)
        if wait:
            now += wait + 1e-6
            assert not flow.wait_seconds(now)


def test_half_a_message_a_second_always_goes_through() -> None:
    flow = Flow()
    assert not any(flow.wait_seconds(second * 0.5) for second in range(1000))
