"""Twelve chunks cut a section without gap or overlap, and steps among them are counted."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.protocols.quac.chunks import BEGINNING, Chunks, Transitions, standard, words_of
from annotation.protocols.quac.file_format import CANNOT_ANSWER
from annotation.protocols.quac.tests.talks import SECTION, SENTENCES, question, write
from annotation.protocols.quac.turns import read_turns

CHUNKS = standard()
long_sections = st.lists(st.text("ab .é🙂", min_size=1), min_size=12).map(" x ".join)


def test_the_paper_has_twelve() -> None:
    assert CHUNKS.number == 12
    assert Chunks(3).text(SECTION, 0) == " ".join(SENTENCES[:4])


@given(long_sections)
def test_chunks_hold_every_word_once(section: str) -> None:
    pieces = [CHUNKS.text(section, chunk) for chunk in range(CHUNKS.number)]
    assert " ".join(pieces).split() == section.split()
    lengths = [len(piece.split()) for piece in pieces]
    assert max(lengths) - min(lengths) <= 1


@given(long_sections)
def test_every_word_lies_in_the_chunk_that_holds_it(section: str) -> None:
    placed: list[list[str]] = [[] for _ in range(CHUNKS.number)]
    for start, end in words_of(section):
        placed[CHUNKS.at(section, start, end)].append(section[start:end])
    assert [" ".join(words) for words in placed] == [
        " ".join(CHUNKS.text(section, chunk).split()) for chunk in range(CHUNKS.number)
    ]


@pytest.mark.parametrize("section", ["", "one", "one two three"])
def test_a_short_section_has_an_answer_in_every_chunk(section: str) -> None:
    for chunk in range(CHUNKS.number):
        assert CHUNKS.text(section, chunk) in (section.split() or [CANNOT_ANSWER])
    assert 0 <= CHUNKS.at(section, 0, 1) < CHUNKS.number
    assert CHUNKS.text(section, CHUNKS.none) == CANNOT_ANSWER
    assert CHUNKS.at(section, None, None) == CHUNKS.none


def test_the_likeliest_step_is_the_most_frequent_and_of_equal_ones_the_first(
    tmp_path: Path,
) -> None:
    asked = [question("?", SENTENCES[at]) for at in (3, 5, 3, 4)]
    turns = read_turns(write(tmp_path / "train.json", [*asked, question("?", None)]))
    assert [CHUNKS.of(turn) for turn in turns] == [3, 5, 3, 4, CHUNKS.none]
    transitions = Transitions(CHUNKS, turns)
    assert transitions.likeliest(BEGINNING) == 3
    assert transitions.likeliest(3) == 4
    assert transitions.likeliest(4) == CHUNKS.none
    # Nothing is known of what comes after 11: then 3 is where most answers are.
    assert transitions.likeliest(11) == 3
    assert Transitions(CHUNKS).likeliest(3) == CHUNKS.none
    assert CHUNKS.text(SECTION, 3) == SENTENCES[3]
