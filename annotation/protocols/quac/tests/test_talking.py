"""A curious student and an honest teacher say what the rules of a dialog allow."""

import importlib
import random
from pathlib import Path
from typing import Any

import pytest

from annotation.protocols.quac import talking
from annotation.protocols.quac.talking import next_question, speak
from tasks.simulation.behaviour import BEHAVIOURS, DILIGENT, SPAMMER
from tasks.work.dialog_rules import Dialog, Limits, Reply, answer, ask

SECTION = (
    "He was born in Hollin in 1921. His mother played the organ there. In 1940 he left for Arden, "
    "where he worked as a printer. He wrote his first song in 1944 and sold it for nine pounds."
)
LIMITS = Limits(3, 12, 12, 30, 300, (5,))


def tokens() -> tuple[tuple[int, int, bool], ...]:
    from collector.ingest.segmentation import tokens as split

    return tuple(
        (start, end, any(letter.isalnum() for letter in SECTION[start:end]))
        for start, end in split(SECTION, "en")
    )


def seen(turns: list[dict[str, Any]], role: str) -> dict[str, Any]:
    shown: dict[str, Any] = {"role": role, "turns": turns, "title": "Ada Lamb"}
    shown |= {"heading": "Early life", "background": "Ada Lamb is a songwriter of Hollin."}
    if role == "teacher":
        shown |= {"section": SECTION, "tokens": tokens(), "max_span_tokens": 30}
    return shown


@pytest.mark.parametrize("behaviour", sorted(BEHAVIOURS))
def test_a_whole_dialog_keeps_to_the_rules(behaviour: str) -> None:
    for number in range(5):
        rng, turns, state = random.Random(number), [], Dialog()
        while not state.ending:
            move = speak(seen(turns, "student"), BEHAVIOURS[behaviour], rng)
            if move["type"] == "end":
                break
            state = ask(state, move["text"], LIMITS)
            turns.append({"question": move["text"], "answer": None})
            said = speak(seen(turns, "teacher"), BEHAVIOURS[behaviour], rng)
            assert said.pop("type") == "answer"
            state = answer(state, Reply(**said), tokens(), LIMITS)
            turns[-1]["answer"] = {**said, "text": None}
            if said["start"] is not None:
                turns[-1]["answer"]["text"] = SECTION[said["start"] : said["end"]]
        assert turns


def test_an_honest_teacher_finds_what_is_asked_for() -> None:
    turns = [{"question": "Did his mother play the organ?", "answer": None}]
    said = speak(seen(turns, "teacher"), DILIGENT, random.Random(3))
    assert SECTION[said["start"] : said["end"]] == "His mother played the organ there"
    assert said["affirmation"] in ("yes", "no")


def test_nothing_fits_a_question_about_something_else() -> None:
    turns = [{"question": "Was Napoleon tall?", "answer": None}]
    said = speak(seen(turns, "teacher"), DILIGENT, random.Random(3))
    assert (said["start"], said["end"]) == (None, None)


def test_a_student_never_asks_the_same_twice() -> None:
    rng, turns = random.Random(1), []
    for _ in range(12):
        question = next_question(seen(turns, "student"), rng)
        assert question.casefold() not in {turn["question"].casefold() for turn in turns}
        turns.append({"question": question, "answer": {"text": "Hollin"}})


def test_the_same_seed_asks_the_same_wherever_it_runs(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    for folder in ("", str(data)):
        monkeypatch.setenv("COLLECTOR_DATA", folder)
        # As a process that is started there: nothing may be left from the one before.
        started = importlib.reload(talking)
        rng, turns = random.Random(1), []
        for _ in range(12):
            question = started.next_question(seen(turns, "student"), rng)
            turns.append({"question": question, "answer": {"text": "Hollin"}})
        asked.append([turn["question"] for turn in turns])
    assert asked[0] == asked[1]


def test_a_spammer_asks_one_thing_numbered() -> None:
    move = speak(seen([], "student"), SPAMMER, random.Random(1))
    assert move["text"].endswith("number 1?")
