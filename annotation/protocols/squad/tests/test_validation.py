"""A question counts when others find what its writer marked, or nothing, as its writer says."""

from typing import Any

import pytest

from annotation.protocols.squad.validation import Vote, verdict, vote
from collector.protocols.loading import get_protocol

PARAMETERS: Any = get_protocol("squad").parameters()
NONE, BAD = Vote("none"), Vote("bad")
YEAR, DATE, TOWER = Vote("span", 10, 14), Vote("span", 4, 14), Vote("span", 30, 40)


@pytest.mark.parametrize(
    ("votes", "outcome", "reason", "agreeing"),
    [
        ([YEAR, DATE, NONE], "kept", "agreed", (0, 1)),
        ([YEAR, TOWER, DATE], "kept", "agreed", (0, 2)),
        ([NONE, TOWER, NONE], "kept", "agreed", (0, 2)),
        ([YEAR, BAD, YEAR], "kept", "agreed", (0, 2)),
        ([YEAR, NONE, NONE], "dropped", "not_found_by_others", ()),
        ([YEAR, NONE, TOWER], "dropped", "not_found_by_others", ()),
        ([NONE, TOWER, YEAR], "dropped", "answered_by_others", ()),
        ([YEAR, TOWER, TOWER], "dropped", "no_agreement", ()),
        ([YEAR, TOWER, BAD], "dropped", "no_agreement", ()),
        ([YEAR, BAD, BAD], "dropped", "marked_bad", ()),
        ([NONE, BAD, BAD], "dropped", "marked_bad", ()),
        ([YEAR, DATE], "waiting", "waiting_for_votes", ()),
    ],
)
def test_two_of_three_decide(
    votes: list[Vote], outcome: str, reason: str, agreeing: tuple[int, ...]
) -> None:
    found = verdict(votes, PARAMETERS, "dev")
    assert (found.outcome, found.reason, found.agreeing) == (outcome, reason, agreeing)
    # What its writer says is released, or nothing is.
    assert found.chosen == (0 if outcome == "kept" else None)
    assert found.sentence


def test_a_training_question_counts_as_its_writer_answered_it() -> None:
    found = verdict([NONE], PARAMETERS, "train")
    assert (found.outcome, found.reason, found.chosen) == ("kept", "answered_by_its_writer", 0)


def test_a_stored_answer_is_the_vote_of_its_first_mark() -> None:
    span = {"document": "main", "start": 4, "end": 9, "text": "words"}
    assert vote("span", {"spans": [span]}) == Vote("span", 4, 9)
    # What only looks like the answer is no answer.
    assert vote("none", {"spans": [], "plausible": [span]}) == NONE


@pytest.mark.parametrize(
    ("votes", "reason"),
    [
        ([YEAR, TOWER, NONE, TOWER], "not_found_by_others"),
        ([YEAR, DATE, YEAR, BAD], "agreed"),
        ([YEAR, BAD, YEAR, BAD], "marked_bad"),
    ],
)
def test_where_more_people_answer_than_others_questions_get_all_of_them_count(
    votes: list[Vote], reason: str
) -> None:
    for more in ({}, {"answer.redundancy.dev": 0}, {"answer.redundancy.dev": 1}):
        rules: Any = get_protocol("squad").parameters(more)
        assert verdict(votes, rules, "dev").reason == reason
