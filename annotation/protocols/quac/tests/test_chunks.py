"""Twelve chunks cut a section without gap or overlap, and steps among them are counted."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.protocols.quac.chunks import (
    BEGINNING,
    N_CHUNKS,
    NO_ANSWER,
    Transitions,
    chunk_at,
    chunk_of,
    chunk_text,
    words_of,
)
from annotation.protocols.quac.layout import CANNOT_ANSWER
from annotation.protocols.quac.tests.talks import SECTION, SENTENCES, question, write
from annotation.protocols.quac.turns import read_turns

long_sections = st.lists(st.text("ab .é🙂", min_size=1), min_size=12).map(" x ".join)


@given(long_sections)
def test_chunks_hold_every_word_once(section: str) -> None:
    pieces = [chunk_text(section, chunk) for chunk in range(N_CHUNKS)]
    assert " ".join(pieces).split() == section.split()
    lengths = [len(piece.split()) for piece in pieces]
    assert max(lengths) - min(lengths) <= 1


@given(long_sections)
def test_every_word_lies_in_the_chunk_that_holds_it(section: str) -> None:
    placed: list[list[str]] = [[] for _ in range(N_CHUNKS)]
    for start, end in words_of(section):
        placed[chunk_at(section, start, end)].append(section[start:end])
    assert [" ".join(words) for words in placed] == [
        " ".join(chunk_text(section, chunk).split()) for chunk in range(N_CHUNKS)
    ]


@pytest.mark.parametrize("section", ["", "one", "one two three"])
def test_a_short_section_has_an_answer_in_every_chunk(section: str) -> None:
    for chunk in range(N_CHUNKS):
        assert chunk_text(section, chunk) in (section.split() or [CANNOT_ANSWER])
    assert 0 <= chunk_at(section, 0, 1) < N_CHUNKS
    assert chunk_text(section, NO_ANSWER) == CANNOT_ANSWER
    assert chunk_at(section, None, None) == NO_ANSWER


def test_the_likeliest_step_is_the_most_frequent_and_of_equal_ones_the_first(
    tmp_path: Path,
) -> None:
    asked = [question("?", SENTENCES[at]) for at in (3, 5, 3, 4)]
    turns = read_turns(write(tmp_path / "train.json", [*asked, question("?", None)]))
    assert [chunk_of(turn) for turn in turns] == [3, 5, 3, 4, NO_ANSWER]
    transitions = Transitions(turns)
    assert transitions.likeliest(BEGINNING) == 3
    assert transitions.likeliest(3) == 4
    assert transitions.likeliest(4) == NO_ANSWER
    # Nothing is known of what comes after 11: then 3 is where most answers are.
    assert transitions.likeliest(11) == 3
    assert Transitions().likeliest(3) == NO_ANSWER
    assert chunk_text(SECTION, 3) == SENTENCES[3]
