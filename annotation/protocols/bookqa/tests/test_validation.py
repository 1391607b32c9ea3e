"""A question counts once another person has answered it and doubted nothing."""

from typing import Any

from annotation.agreement.decision import Outcome
from annotation.protocols.bookqa.validation import verdict, vote
from collector.protocols.loading import get_protocol

PARAMETERS: Any = get_protocol("bookqa").parameters()


def given(answer: str, doubt: str = "") -> Any:
    return vote("words", {"fields": {"answer": answer, "doubt": doubt}})


def test_it_waits_for_another_person() -> None:
    assert verdict([], PARAMETERS, "train").outcome == Outcome.WAITING


def test_the_first_answer_of_another_person_stands_beside_the_writers() -> None:
    found = verdict([given("her uncle"), given("a forger")], PARAMETERS, "test")
    assert (found.outcome, found.chosen, found.agreeing) == (Outcome.KEPT, 0, (0, 1))


def test_a_doubt_drops_the_question_and_is_told() -> None:
    found = verdict([given("blue", "The colour is not told.")], PARAMETERS, "dev")
    assert (found.outcome, found.reason) == (Outcome.DROPPED, "cannot_be_answered")
    assert found.sentence.endswith("The colour is not told.")
