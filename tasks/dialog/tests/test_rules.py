"""No sequence of moves reaches an illegal state, and a dialog always ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.work.dialog_rules import (
    AFFIRMATION,
    CONTINUATION,
    Dialog,
    Ending,
    Limits,
    Refused,
    Reply,
    Role,
    answer,
    ask,
    earned_cents,
    end,
    most_cents,
)

LIMITS = Limits(
    min_pairs=3,
    max_questions=12,
    max_unanswerable=3,
    max_span_tokens=5,
    max_question_characters=40,
    pay_cents=(5, 6, 8),
)
TOKENS = [(start, start + 3, True) for start in range(0, 80, 4)]
NONE = Reply(None, None, "maybe", "neither")
SPAN = Reply(4, 11, "follow_up", "yes")

replies = st.builds(
    Reply,
    start=st.none() | st.sampled_from([0, 4, 8, 5]),
    end=st.none() | st.sampled_from([3, 11, 43, 9]),
    continuation=st.sampled_from([*CONTINUATION, "perhaps"]),
    affirmation=st.sampled_from([*AFFIRMATION, ""]),
)
moves = st.lists(
    st.tuples(st.just("ask"), st.sampled_from(["Why?", " ", "x" * 41]))
    | st.tuples(st.just("answer"), replies | st.sampled_from([NONE, SPAN]))
    | st.tuples(st.just("end"), st.sampled_from([*Role])),
    max_size=60,
)


def talked(*turns: Reply) -> Dialog:
    """Return a dialog with one question for each of the answers."""
    dialog = Dialog()
    for reply in turns:
        dialog = answer(ask(dialog, "What then?", LIMITS), reply, TOKENS, LIMITS)
    return dialog


@given(moves)
def test_no_sequence_of_moves_reaches_an_illegal_state(moves: list[tuple[str, object]]) -> None:
    dialog = Dialog()
    for name, what in moves:
        before = dialog
        try:
            if name == "ask":
                dialog = ask(dialog, str(what), LIMITS)
            elif name == "answer":
                assert isinstance(what, Reply)
                dialog = answer(dialog, what, TOKENS, LIMITS)
            else:
                assert isinstance(what, Role)
                dialog = end(dialog, what)
        except Refused:
            assert dialog is before
        assert len(dialog.turns) <= LIMITS.max_questions
        assert all(turn.reply for turn in dialog.turns[:-1])
        assert not (before.ending and dialog is not before)
        replies = [turn.reply for turn in dialog.turns if turn.reply]
        assert dialog.completed == len(replies)
        assert dialog.unanswerable == sum(reply.start is None for reply in replies)
        assert dialog.unanswerable <= LIMITS.max_unanswerable
        assert (dialog.to_move is None) == (dialog.ending is not None)


def test_it_ends_with_the_twelfth_question_even_when_that_has_no_answer() -> None:
    dialog = talked(*[SPAN] * 11, NONE)
    assert dialog.ending is Ending.ALL_ASKED
    assert dialog.completed == 12


def test_it_ends_with_the_third_unanswerable_question_in_all() -> None:
    assert talked(NONE, SPAN, NONE, SPAN).ending is None
    assert talked(NONE, SPAN, NONE, SPAN, NONE).ending is Ending.UNANSWERABLE


def test_the_partners_take_turns() -> None:
    asked = ask(Dialog(), "Who was she?", LIMITS)
    assert asked.to_move is Role.TEACHER
    with pytest.raises(Refused, match="teacher's turn"):
        ask(asked, "And then?", LIMITS)
    assert answer(asked, SPAN, TOKENS, LIMITS).to_move is Role.STUDENT
    with pytest.raises(Refused, match="student's turn"):
        answer(Dialog(), SPAN, TOKENS, LIMITS)


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (Reply(0, 23, "maybe", "yes"), "at most 5"),
        (Reply(1, 7, "maybe", "yes"), "whole words"),
        (Reply(0, 2, "maybe", "yes"), "whole words"),
        (Reply(0, None, "maybe", "yes"), "No answer"),
        (Reply(0, 3, "often", "yes"), "follow up"),
        (Reply(0, 3, "maybe", "perhaps"), "yes, no or neither"),
    ],
)
def test_it_refuses_an_answer_that_is_not_one_short_span(reply: Reply, sentence: str) -> None:
    with pytest.raises(Refused, match=sentence):
        answer(ask(Dialog(), "Why?", LIMITS), reply, TOKENS, LIMITS)


def test_either_partner_may_end_it_and_then_nobody_moves() -> None:
    dialog = end(ask(Dialog(), "Why?", LIMITS), Role.STUDENT, Ending.REPORTED)
    assert (dialog.ending, dialog.ended_by, dialog.completed) == ("reported", "student", 0)
    with pytest.raises(Refused, match="over"):
        answer(dialog, SPAN, TOKENS, LIMITS)
    with pytest.raises(Refused, match="over"):
        end(dialog, Role.TEACHER)


def test_every_completed_turn_is_paid_by_the_schedule() -> None:
    assert [earned_cents(n, LIMITS) for n in range(5)] == [0, 5, 11, 19, 27]
    assert most_cents(LIMITS) == 5 + 6 + 10 * 8
