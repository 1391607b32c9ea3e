"""The paper's model judges difficulty as any reader does: learns, answers, is saved, is chosen."""

import json
import random
from dataclasses import replace
from io import StringIO

import pytest
from django.core.management import call_command

from annotation.metrics.token_overlap import exact_match
from annotation.models import CrossValidation, HeldOutPrediction
from annotation.protocols.hotpotqa.baselines import READERS
from annotation.splits.tests.making import make_kept
from readers.hotpotqa.difficulty_reader import NeuralReader
from readers.light.tests.making import make_examples
from readers.reader import YES_NO, asked, make_reader
from readers.trained import ReaderError

NUMBER = 40


@pytest.fixture(scope="module")
def learned():
    """Return a reader that has learned from a few examples."""
    made = make_reader(READERS["neural"])
    made.fit(make_examples(NUMBER), random.Random(3))
    return made


def test_it_answers_with_words_of_a_text_or_yes_or_no(learned):
    examples = make_examples(20, seed=5)
    found = list(learned.predict(map(asked, examples)))
    assert [one.key for one in found] == [example.key for example in examples]
    assert all(one.loss >= 0 for one in found)
    for one, example in zip(found, examples, strict=True):
        written = "".join(f"<t> {text.title} </t>{text.text}" for text in example.texts)
        assert one.answer in YES_NO or one.answer in written


def test_it_never_needs_to_be_told_the_answer(learned):
    examples = make_examples(10, seed=6)
    wrong = [replace(example, answer="Nobody", facts=()) for example in examples]
    assert list(learned.predict(wrong)) == list(learned.predict(map(asked, examples)))


def test_it_has_learned_what_it_was_shown(learned):
    examples = make_examples(NUMBER)
    found = {one.key: one.answer for one in learned.predict(map(asked, examples))}
    assert sum(exact_match(found[each.key], each.answer) for each in examples) > NUMBER / 4


def test_a_saved_reader_answers_as_before(learned, tmp_path):
    learned.save(tmp_path / "reader")
    loaded = NeuralReader.load(tmp_path / "reader")
    others = [asked(example) for example in make_examples(10, seed=5)]
    assert list(loaded.predict(others)) == list(learned.predict(others))


def test_a_reader_that_has_learned_nothing_says_so(tmp_path):
    made = NeuralReader()
    with pytest.raises(ReaderError, match="has learned nothing yet"):
        list(made.predict(make_examples(1)))
    with pytest.raises(ReaderError, match="has learned nothing yet"):
        made.save(tmp_path / "reader")


@pytest.mark.django_db
def test_it_judges_a_collection_in_a_process_of_its_own():
    collection = make_kept(8)
    collection.parameters["difficulty"]["folds"] = 2
    collection.save()
    said = StringIO()
    given = ("judge_difficulty", "pilot", "--as-multi-hop", "--reader", "neural", "--json")
    call_command(*given, stdout=said)
    judged = json.loads(said.getvalue())
    assert (judged["reader"], judged["judged"]) == ("neural", 8)
    assert CrossValidation.objects.get().reader == "neural"
    assert HeldOutPrediction.objects.filter(loss__gte=0).count() == 8
