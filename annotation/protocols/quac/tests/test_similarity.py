"""Words weigh by how rare they are; what a candidate has of a question is counted."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.protocols.quac.simple_baselines import (
    TfIdf,
    Unit,
    candidates,
    cosine,
    matches,
    past_of,
    sentences_of,
)
from annotation.protocols.quac.tests.talks import SECTION, SENTENCES, question, write
from annotation.protocols.quac.turns import read_turns

WEIGHTS = TfIdf(["The cat sat.", "A cat ran, a cat!", "Dogs"])


def test_a_word_weighs_by_the_sentences_that_hold_it() -> None:
    assert WEIGHTS.weight("cat") == pytest.approx(math.log(4 / 3) + 1)
    assert WEIGHTS.weight("dogs") == pytest.approx(math.log(4 / 2) + 1)
    assert WEIGHTS.weight("bird") == pytest.approx(math.log(4) + 1)
    assert WEIGHTS.of("Cat, cat: the end") == {
        "cat": pytest.approx(2 * WEIGHTS.weight("cat")),
        "end": pytest.approx(WEIGHTS.weight("end")),
    }


@given(st.text("ab c."), st.text("ab c."))
def test_a_cosine_lies_between_0_and_1_and_is_1_of_a_text_with_itself(one: str, other: str) -> None:
    unit = Unit(WEIGHTS)
    assert 0 <= cosine(unit.of(one), unit.of(other)) <= 1 + 1e-9
    assert cosine(unit.of(one), unit.of(other)) == cosine(unit.of(other), unit.of(one))
    assert cosine(unit.of(one), unit.of(one)) == pytest.approx(1.0 if unit.of(one) else 0.0)


def test_matching_counts_ngrams_of_the_question() -> None:
    found = matches("Who read the first notes?", "Ada read first notes.", Unit(WEIGHTS))
    assert found["1-grams"] == 3 / 4
    assert found["2-grams"] == 2 / 3
    assert found["3-grams"] == 1 / 2


def test_context_is_what_was_said_before_and_never_the_answer_itself(tmp_path: Path) -> None:
    talk = [
        question("What notes?", SENTENCES[2], followup="y"),
        question("Who?", None, followup="n"),
        question("And then?", SENTENCES[3]),
    ]
    other = [*talk[:2], question("And then?", SENTENCES[9], yesno="y", followup="y")]
    turn = read_turns(write(tmp_path / "dev.json", talk))[2]
    past = past_of(turn, sentences_of(SECTION, "en"))
    assert (past.answered, past.n_unanswered, past.continuation) == ((2,), 1, "n")
    assert (past.question, past.answer) == ("Who?", "")
    told = list(candidates(turn, "en", Unit(WEIGHTS)))
    assert len(told) == len(SENTENCES) + 1
    assert told[3]["step 1"] == told[3]["step 1 after n"] == 1
    assert told[2]["answered before"] == 1
    assert told[-1]["none after none"] == told[-1]["none begins and then"] == 1
    assert told[-1]["none so far"] == 1 / 12
    answered_otherwise = read_turns(write(tmp_path / "other.json", other))[2]
    assert list(candidates(answered_otherwise, "en", Unit(WEIGHTS))) == told
