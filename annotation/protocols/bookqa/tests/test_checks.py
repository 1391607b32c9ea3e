"""A writer is told all that is wrong at once: copied words, a missing mark, the summary named."""

from typing import Any

import pytest

from annotation.protocols.bookqa.checks import problems
from collector.protocols.loading import get_protocol

SUMMARY = (
    "Marta, a ferryman's niece, burns a letter that her uncle has forged, and hides the miller "
    "from the bailiff until the flood has carried the mill away. Later Marta leaves for Varn."
)
GOOD = {"question": "Why does Marta burn the letter?", "answer": "Because it was forged."}


def told(kind: str, *entries: dict[str, str]) -> list[tuple[str, bool]]:
    """Return (message, whether it is only a hint) of what is wrong with the entries."""
    parameters: Any = get_protocol("bookqa").parameters()
    items = [{"id": str(at), "passage": {"text": SUMMARY}} for at in range(len(entries))]
    data = {"entries": [{"item": str(at), "fields": entry} for at, entry in enumerate(entries)]}
    table = parameters.question if kind == "text" else parameters.answer
    found = problems(kind, data, items, table, parameters)
    return [(one.message, one.hint) for one in found]


def test_a_good_question_and_a_good_answer_pass() -> None:
    assert told("text", GOOD) == []
    assert told("free_answer", {"answer": "a forgery", "doubt": ""}) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"question": "Marta why?"}, "Ask in 3 words or more."),
        ({"question": "Why does Marta burn the letter"}, "End the question with a question mark."),
        (
            {"question": "Why does Marta burn it, says the summary?"},
            "Ask about the story: who reads the book knows no summary.",
        ),
        (
            {"question": "Whom does Marta hide until the flood has carried the mill away?"},
            "Say it in your own words: “until the flood has carried the mill” is the summary's.",
        ),
        (
            {"answer": "hides the miller, from the bailiff: until dawn"},
            "Say it in your own words: “hides the miller from the bailiff until” is the summary's.",
        ),
        ({"answer": "word " * 41}, "It has 41 words: keep 40."),
        (
            {"question": "Does Marta burn the letter?", "answer": "burn the letter"},
            "The question holds its own answer.",
        ),
    ],
)
def test_what_is_wrong_is_said(change: dict[str, str], message: str) -> None:
    assert told("text", GOOD | change) == [(message, False)]


@pytest.mark.parametrize(
    "question", ["Why does she burn the letter?", "What is burnt?", "Where is Orla in the end?"]
)
def test_a_question_without_a_name_of_the_story_is_only_asked_about(question: str) -> None:
    ((message, is_hint),) = told("text", GOOD | {"question": question})
    assert message.startswith("Does it say whom it is about?")
    assert is_hint


@pytest.mark.parametrize("question", ["Who is Marta's uncle?", "What draws Marta to Varn?"])
def test_a_name_counts_with_its_ending(question: str) -> None:
    assert told("text", GOOD | {"question": question}) == []


def test_every_entry_is_looked_at() -> None:
    wrong = {"answer": "word " * 41, "doubt": ""}
    assert len(told("free_answer", wrong, wrong)) == 2


def test_an_answer_of_one_word_may_stand_in_the_question() -> None:
    assert told("text", {"question": "Is it Marta or Orla who leaves?", "answer": "Marta"}) == []
