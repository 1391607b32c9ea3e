"""Who does what the instructions ask is granted; the rule can be seen in what was handed in."""

from collections.abc import Sequence
from typing import Any

import pytest

from annotation.protocols.iirc import simulated
from annotation.protocols.iirc.tests.pages import seeded
from annotation.protocols.iirc.tests.test_answers import LIVES, PASSAGE, article, nothing
from tasks.simulation.behaviour import DILIGENT, SPAMMER, Behaviour
from tasks.work.widgets import answer as answer_widget

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
    return simulated.inspect("question", data, [ITEM], lambda item, title: None)


def test_a_diligent_writer_is_granted() -> None:
    assert [asked(DILIGENT, number)[0] for number in range(10)] == [True] * 10


def test_one_question_numbered_is_declined() -> None:
    granted, note = asked(SPAMMER)
    assert not granted
    assert note.startswith("The questions are one question, numbered")


QUESTIONS = {
    "Ada Byrne": (
        "In what year was the engineer Byrne born?",
        "Where was the engineer Byrne born?",
    ),
    "Long Bridge": ("Who designed the Long Bridge?", "How long is the Long Bridge?"),
    "Hollin": ("How many inhabitants does Hollin have?",),
}
UNANSWERABLE = ("Who won the Long Bridge?", "How much did the Long Bridge cost to build?")


def opened(item: str, title: str) -> dict[str, Any] | None:
    """Return a linked article as the page gets it."""
    return article(title) if title in LIVES else None


def asked_of(questions: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return the page's items for (question, title of the link that it needs)."""
    return [
        {
            "id": str(number),
            "question": question,
            "passage": {**PASSAGE, "sentences": [[0, 61]]},
            # Whoever wrote the question has cut through words.
            "writer_context": [{"document": "main", "start": 5, "end": 15, "text": ""}],
            "writer_links": [title],
        }
        for number, (question, title) in enumerate(questions)
    ]


ANSWERABLE = asked_of([(one, title) for title, all_ in QUESTIONS.items() for one in all_])
HARD = asked_of([(one, "Long Bridge") for one in UNANSWERABLE])
PAGES = {"answers": (ANSWERABLE, opened), "none": (HARD, opened), "no texts": (ANSWERABLE, nothing)}


def judged(behaviour: Behaviour, number: int, items: Any, opener: Any) -> tuple[bool, str]:
    """Return what becomes of a worker's answers, cleaned as they are stored."""
    page = {"kind": "answer", "limits": {"questions": len(items)}, "items": items}
    data = simulated.fill(page, behaviour, seeded(number), opener)
    cleaned, problems = answer_widget.clean_all(
        data, items, lambda item, title: LIVES[title] if opener(item, title) else None
    )
    assert problems == []
    return simulated.inspect("answer", cleaned, items, opener)


@pytest.mark.parametrize("page", PAGES)
def test_diligent_answerers_are_granted_whatever_the_articles_hold(page: str) -> None:
    notes = [judged(DILIGENT, number, *PAGES[page]) for number in range(60)]
    assert [note for granted, note in notes if not granted] == []


def test_spammers_are_declined() -> None:
    assert not any(judged(SPAMMER, number, ANSWERABLE, opened)[0] for number in range(60))


def test_whoever_gives_up_all_that_can_be_answered_is_declined() -> None:
    granted, note = judged(Behaviour("idle", gives_up=1.0), 1, ANSWERABLE, opened)
    assert not granted
    assert note.startswith("Questions were given up that have an answer")


def answered(*marks: tuple[int, int], document: str = "main") -> tuple[bool, str]:
    """Return what becomes of a page whose answers are these marks."""
    items = ANSWERABLE[: len(marks)]
    answers = [
        {"item": item["id"], "type": "span", "spans": [span], "context": [span]}
        for item, (start, end) in zip(items, marks, strict=True)
        for span in [{"document": document, "start": start, "end": end}]
    ]
    return simulated.inspect("answer", {"answers": answers}, items, opened)


def test_whole_words_of_the_article_are_granted() -> None:
    assert answered((0, 9), (10, 17), document="Ada Byrne")[0]


def test_marks_through_words_are_declined() -> None:
    granted, note = answered((14, 17))
    assert not granted
    assert "cut through words" in note


def test_answers_that_no_article_proves_are_declined() -> None:
    granted, note = answered((13, 18), (4, 12))
    assert not granted
    assert note.startswith("No linked article is marked")
    assert answered((13, 18))[0]
