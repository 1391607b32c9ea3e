"""The light reader learns, says the same twice, and answers with words of the texts."""

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.metrics.token_overlap import exact_match
from readers.light.light_reader import LightReader
from readers.light.tests.making import make_examples
from readers.light.words import candidates, tokens
from readers.reader import YES_NO, Example, Text, asked, make_reader, read_examples, write_examples

pytestmark = pytest.mark.pure


@pytest.fixture(scope="module")
def reader():
    """Return a reader that has learned from 160 examples."""
    made = make_reader("light")
    made.fit(make_examples(160), random.Random(3))
    return made


def test_it_answers_what_it_has_not_seen(reader):
    examples = make_examples(60, seed=2)
    found = list(reader.predict([asked(example) for example in examples]))
    right = [
        exact_match(one.answer, example.answer)
        for one, example in zip(found, examples, strict=True)
    ]
    assert [one.key for one in found] == [example.key for example in examples]
    assert sum(right) > 40
    assert all(one.loss >= 0 for one in found)


def test_an_answer_is_yes_no_or_words_of_a_text(reader):
    for example in make_examples(30, seed=4):
        [one] = reader.predict([asked(example)])
        assert one.answer in YES_NO or any(one.answer in text.text for text in example.texts)


def test_the_same_examples_give_the_same_predictions(reader):
    again = LightReader()
    again.fit(make_examples(160), random.Random(3))
    others = [asked(example) for example in make_examples(40, seed=5)]
    assert list(again.predict(others)) == list(reader.predict(others))


def test_a_saved_reader_answers_as_before(reader, tmp_path):
    reader.save(tmp_path / "reader")
    others = [asked(example) for example in make_examples(20, seed=5)]
    loaded = LightReader.load(tmp_path / "reader")
    assert list(loaded.predict(others)) == list(reader.predict(others))


def test_it_never_needs_to_be_told_the_answer(reader):
    examples = make_examples(20, seed=6)
    wrong = [replace(example, answer="Nobody", facts=()) for example in examples]
    assert list(reader.predict(wrong)) == list(reader.predict(map(asked, examples)))


@pytest.mark.parametrize("number", [1, 2, 5])
def test_few_examples_are_enough_to_answer_somehow(number):
    made = LightReader()
    made.fit(make_examples(number), random.Random(1))
    assert len(list(made.predict(map(asked, make_examples(3, seed=9))))) == 3


@settings(max_examples=25)
@given(st.text(max_size=80), st.text(max_size=120), st.text(max_size=120))
def test_no_text_breaks_it(reader, question, first, second):
    ends = ((0, len(first)),) if first else ()
    example = Example("k", question, (Text(question, first, ends), Text("b", second, ())))
    [one] = reader.predict([example])
    assert one.loss >= 0


@given(st.text(max_size=200))
def test_candidates_are_whole_tokens_once_each(text):
    places = tokens(text)
    found = candidates([text[start:end] for start, end in places], places, text)
    assert len({(first, last) for first, last, _ in found}) == len(found)
    assert all(0 <= first < last <= len(places) for first, last, _ in found)


def test_names_numbers_and_dates_are_candidates():
    text = "Read in Bath, Maine on 5 May 1975, J. R. Stone sold 1,500 seats at Hollin Field."
    places = tokens(text)
    words = [text[start:end] for start, end in places]
    found = {
        text[places[first][0] : places[last - 1][1]]
        for first, last, _ in candidates(words, places, text)
    }
    assert {"Bath", "Bath, Maine", "5 May 1975", "J. R. Stone", "1,500", "Hollin Field"} <= found


def test_examples_are_written_and_read_again_equal(tmp_path):
    examples = make_examples(5)
    assert write_examples(tmp_path / "examples.jsonl", examples) == 5
    assert list(read_examples(tmp_path / "examples.jsonl")) == examples
