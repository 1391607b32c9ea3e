"""A socket may send as fast as anybody types, and not as fast as anybody can flood."""

from hypothesis import given
from hypothesis import strategies as st

from common.rate_limit import MemoryBucket
from tasks.dialog.messages import MESSAGES

PAUSES = st.lists(st.floats(0, 5), max_size=300)


@given(PAUSES)
def test_never_more_than_the_burst_and_the_rate(pauses: list[float]) -> None:
    bucket, now, let_through = MemoryBucket(), 0.0, 0
    for pause in pauses:
        now += pause
        let_through += not bucket.take(MESSAGES, now)
    assert let_through <= MESSAGES.at_once + sum(pauses) / MESSAGES.seconds + 1e-6


@given(PAUSES)
def test_whoever_waits_as_long_as_they_are_told_is_let_through(pauses: list[float]) -> None:
    bucket, now = MemoryBucket(), 0.0
    for pause in pauses:
        now += pause
        wait = bucket.take(MESSAGES, now)
        if wait:
            now += wait + 1e-6
            assert not bucket.take(MESSAGES, now)


def test_half_a_message_a_second_always_goes_through() -> None:
    bucket = MemoryBucket()
    assert not any(bucket.take(MESSAGES, second * 0.5) for second in range(1000))
