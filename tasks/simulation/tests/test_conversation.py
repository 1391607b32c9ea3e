"""One side of a dialog says each thing once, however often the line breaks or a state comes."""

import random
from typing import Any

import pytest

from tasks.simulation.behaviour import DILIGENT, DOUBLE_CLICKER, FLAKY, LEAVER, SILENT, Behaviour
from tasks.simulation.browser import StuckError
from tasks.simulation.conversation import MOST_REFUSALS, Conversation

QUESTION = {"question": "Why?", "answer": None}
ANSWER = {"question": "Why?", "answer": {"text": None}}


def ada(behaviour: Behaviour = DILIGENT) -> Conversation:
    """Return Ada the student's side, who asks the same thing again and again."""
    return Conversation(
        "token", lambda dialog: {"type": "ask", "text": "Why?"}, behaviour, random.Random(1)
    )


def state(phase: str, turns: tuple[Any, ...] = (), **dialog: Any) -> dict[str, Any]:
    shown = {"id": 7, "role": "student", "to_move": "student", "turns": list(turns), **dialog}
    return {"type": "state", "state": {"phase": phase, "dialog": shown}}


def test_she_says_that_she_is_here_and_asks() -> None:
    talk = ada()
    assert talk.greet() == [{"token": "token", "again": False}]
    assert talk.hear({"type": "state", "state": {"phase": "waiting"}}) == []
    (ready,) = talk.hear(state("checking", ready=False))
    assert ready["type"] == "ready"
    assert talk.hear({"type": "taken", "id": ready["id"]}) == []
    (asked,) = talk.hear(state("talking"))
    assert (asked["type"], asked["text"]) == ("ask", "Why?")
    assert talk.hear(state("talking")) == []
    assert talk.hear({"type": "taken", "id": asked["id"]}) == []
    assert talk.hear(state("talking", [QUESTION], to_move="teacher")) == []
    (again,) = talk.hear(state("talking", [ANSWER]))
    assert again["id"] != asked["id"]
    talk.hear({"type": "taken", "id": again["id"]})
    talk.hear(state("done"))
    assert talk.is_over
    assert [move["type"] for move in talk.taken] == ["ready", "ask", "ask"]


def test_what_was_not_answered_is_sent_again_on_a_new_line() -> None:
    talk = ada()
    (asked,) = talk.hear(state("talking"))
    assert talk.greet() == [{"token": "token", "again": True}, asked]
    talk.hear({"type": "taken", "id": asked["id"]})
    assert talk.greet() == [{"token": "token", "again": True}]


def test_a_refused_move_is_thought_over_and_not_for_ever() -> None:
    talk = ada()
    (asked,) = talk.hear(state("talking"))
    for _ in range(MOST_REFUSALS):
        (asked,) = talk.hear({"type": "refused", "id": asked["id"], "message": "No."})
    with pytest.raises(StuckError, match="refused: No"):
        talk.hear({"type": "refused", "id": asked["id"], "message": "No."})


def test_the_second_of_two_clicks_may_be_refused() -> None:
    talk = ada(DOUBLE_CLICKER)
    first, second = talk.hear(state("talking"))
    assert first == second
    talk.hear({"type": "taken", "id": first["id"]})
    assert talk.hear({"type": "refused", "id": first["id"], "message": "It is over."}) == []


def test_others_stay_silent_go_or_are_cut_off() -> None:
    assert ada(SILENT).hear(state("talking")) == []
    leaver = ada(LEAVER)
    turns: list[Any] = []
    while not leaver.is_over:
        for asked in leaver.hear(state("talking", tuple(turns))):
            leaver.hear({"type": "taken", "id": asked["id"]})
        turns.append(ANSWER)
    flaky = ada(FLAKY)
    cuts = 0
    for n in range(30):
        flaky.hear(state("talking", (ANSWER,) * n))
        cuts += flaky.cut
        _, *pending = flaky.greet()
        flaky.hear({"type": "taken", "id": pending[0]["id"]})
    assert 3 < cuts < 20


def test_who_waits_in_vain_says_so_once() -> None:
    talk = ada()
    assert talk.finish() == []
    talk.hear({"type": "state", "state": {"phase": "waiting"}})
    (finished,) = talk.finish()
    assert finished["type"] == "finish"
    assert talk.finish() == []
    assert not talk.has_talked
