"""Who does what the instructions ask is granted; the rule can be seen in what was handed in."""

from typing import Any

import pytest

from annotation.protocols.iirc import simulated
from annotation.protocols.iirc.simulation.tests.pages import seeded
from annotation.protocols.iirc.simulation.tests.test_answers import PASSAGE
from tasks.simulation.behaviour import DILIGENT, SPAMMER

pytestmark = pytest.mark.pure
ITEM = {"id": "0", "section": "", "sentences": [[0, 61]], **PASSAGE}
LIMITS = {
    "questions": 3,
    "multi_link_questions": 1,
    "multi_link_min_links": 2,
    "max_question_characters": 400,
}
PAGE = {"kind": "question", "limits": LIMITS, "items": [ITEM]}


def asked(behaviour: Any, number: int = 1) -> tuple[bool, str]:
    data = simulated.fill(PAGE, behaviour, seeded(number), lambda item, title: None)
    return simulated.inspect("question", data, [ITEM])


def test_a_diligent_writer_is_granted() -> None:
    assert [asked(DILIGENT, number)[0] for number in range(10)] == [True] * 10


def test_one_question_numbered_is_declined() -> None:
    granted, note = asked(SPAMMER)
    assert not granted
    assert note.startswith("The questions are one question, numbered")


def answered(answers: list[dict[str, Any]]) -> tuple[bool, str]:
    items = [{"id": str(n), "question": "Who?", "passage": PASSAGE} for n in range(len(answers))]
    full = [
        {"item": str(number), "spans": [], "context": [], **answer}
        for number, answer in enumerate(answers)
    ]
    return simulated.inspect("answer", {"answers": full}, items)


def test_whole_words_are_granted() -> None:
    span = {"document": "main", "start": 13, "end": 18}
    assert answered([{"type": "span", "spans": [span]}, {"type": "none"}])[0]


def test_marks_through_words_are_declined() -> None:
    cut = {"document": "main", "start": 14, "end": 17}
    granted, note = answered([{"type": "span", "spans": [cut], "context": [cut]}])
    assert not granted
    assert "cut through words" in note


def test_giving_up_on_everything_is_declined() -> None:
    granted, note = answered([{"type": "none"}, {"type": "none"}])
    assert not granted
    assert note.startswith("Every question was given up")
