"""A reader that is delivered says when one text alone is enough."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.protocols.reader_hints import confidence, sentences_of, surest

pytestmark = pytest.mark.pure
TITLE = "Meteora (album)"
TEXT = (
    "Meteora is the second studio album by the American rock band Linkin Park. "
    "It was released on March 25, 2003, through Warner Records. Don Gilmore produced it."
)
ASKED = "When was the second studio album by the band Linkin Park released?"


def test_who_asks_what_one_text_says_is_answered_from_it() -> None:
    assert confidence(ASKED, "March 25, 2003", TITLE, TEXT) > 0.6
    assert surest(ASKED, TITLE, TEXT)[0] == "March 25, 2003"


def test_another_answer_is_not_the_readers() -> None:
    assert confidence(ASKED, "Don Gilmore", TITLE, TEXT) < 0.2
    assert confidence(ASKED, "1996", TITLE, TEXT) == 0


def test_yes_and_no_could_be_guessed_and_prove_nothing() -> None:
    assert confidence("Is Meteora an album by Linkin Park?", "yes", TITLE, TEXT) == 0


def test_a_text_is_read_sentence_by_sentence() -> None:
    assert sentences_of(TEXT)[1:] == [
        "It was released on March 25, 2003, through Warner Records.",
        "Don Gilmore produced it.",
    ]


@settings(max_examples=25)
@given(st.text(), st.text(), st.text(max_size=20), st.text(max_size=200))
def test_no_text_breaks_it(question: str, answer: str, title: str, text: str) -> None:
    assert 0 <= confidence(question, answer, title, text) <= 1 + 1e-9
    assert 0 <= surest(question, title, text)[1] <= 1 + 1e-9
