"""A socket may send as fast as anybody types, and not as fast as anybody can flood."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.protocols.loading import ProtocolError, get_protocol
from collector.serving.plan import LONGEST_MESSAGE_BYTES
from common.rate_limit import MemoryBucket
from tasks.dialog.socket_actions import MESSAGES
from tasks.dialog.tests.making import message

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


def test_the_longest_question_that_a_collection_allows_fits_a_message_however_it_is_written() -> (
    None
):
    get_protocol("quac").parameters({"dialog.max_question_characters": 2_000})
    with pytest.raises(ProtocolError, match="max_question_characters"):
        get_protocol("quac").parameters({"dialog.max_question_characters": 2_001})
    for character in ("\u0001", "\ud800", '"', "\U0001f600"):
        asked = {"type": "ask", "dialog": 2**63, "text": 2_000 * character, "id": str(message())}
        written = json.dumps(asked, ensure_ascii=character < "\x7f" or character == "\ud800")
        assert len(written.encode()) < LONGEST_MESSAGE_BYTES
