"""Every baseline learns 32 real questions by heart, and nothing from labels that are shuffled.

What reads everything is given the supporting facts under their titles: that is as little as can be.
"""

import random
from collections import Counter
from dataclasses import replace

import pytest
import torch

from annotation.metrics.supporting_facts import facts_measure
from annotation.metrics.token_overlap import exact_match
from annotation.protocols.hotpotqa.baselines import TRAINED
from readers.hotpotqa.network import WORDS
from readers.hotpotqa.preprocessing import SPAN
from readers.hotpotqa.tests.making import (
    facts_alone,
    items,
    reader,
    real_items,
    recipe,
)
from readers.tests.by_heart import fit_by_heart
from readers.trainer.trainer import Trainer, answered

NUMBER = 32
CHOSEN = recipe(
    word_width=32,
    character_filters=16,
    hidden=24,
    learning_rate=0.02,
    batch=16,
    alike=0,
    epochs=20,
)
EACH = pytest.mark.parametrize(
    "name", [name for name, about in TRAINED.items() if about.module == "readers.hotpotqa.baseline"]
)


def untrained(name, questions):
    """Return the baseline that has learned nothing, and the questions as it reads them."""
    settings = {**TRAINED[name].settings}
    # Of which level they are it need not know: all are learned from here.
    settings.pop("without", None)
    return reader(questions, CHOSEN, **settings)


def fit(made, items):
    """Train on the items until they are known by heart, or fail."""

    def is_learnt():
        told = answered(made, items, CHOSEN.training())
        right = [one.answer == item.answer for one, item in zip(told, items, strict=True)]
        return sum(right) >= 0.95 * len(items)

    torch.set_num_threads(1)
    fit_by_heart(made, items, is_learnt, rate=0.02, most_steps=90, look=10, clip=5.0)


def train(made, items, folder):
    """Train on the items for as long as the recipe says."""
    Trainer(made, items, [], CHOSEN.training(), folder, "1").fit()


def exact(made, items):
    """Return the share of items that are answered exactly."""
    answers = answered(made, items, CHOSEN.training())
    return sum(
        exact_match(one.answer, item.answer) for one, item in zip(answers, items, strict=True)
    ) / len(items)


@EACH
@pytest.mark.data
def test_it_learns_32_real_questions(name, data):
    made, read = untrained(name, facts_alone(real_items(data, NUMBER)))
    assert len(read) == NUMBER
    assert exact(made, read) < 0.2
    fit(made, read)
    assert exact(made, read) >= 0.95


@EACH
@pytest.mark.data
def test_shuffled_labels_teach_nothing_about_others(name, data):
    questions = facts_alone(real_items(data, 2 * NUMBER))
    random.Random(1).shuffle(questions)
    made, read = untrained(name, questions)
    learned, others = read[:NUMBER], read[NUMBER:]
    # They are learned by heart: what is asked is whether that helps elsewhere.
    fit(made, shuffled(learned))
    assert exact(made, others) <= commonest(others)


def commonest(others):
    """Return the best share that can be right without reading."""
    return Counter(item.answer.lower() for item in others).most_common(1)[0][1] / len(others)


@pytest.mark.data
def test_true_labels_of_as_many_teach_what_shuffled_ones_do_not(tmp_path):
    made, read = untrained("baseline", items(2 * NUMBER))
    learned, others = read[:NUMBER], read[NUMBER:]
    train(made, learned, tmp_path)
    # Invented ones are asked and answered alike: of so few real ones no reader learns to read.
    assert exact(made, others) > 2 * commonest(others)


@pytest.mark.data
def test_it_learns_32_real_questions_with_their_facts(data, tmp_path):
    made, items = reader(real_items(data, NUMBER), CHOSEN, "gold")
    assert exact(made, items) < 0.2
    train(made, items, tmp_path)
    assert exact(made, items) >= 0.95
    told = answered(made, items, CHOSEN.training())
    facts = [_facts(item) for item in items]
    right = [facts_measure(one.facts, gold) for one, gold in zip(told, facts, strict=True)]
    assert sum(each.f1 for each in right) / NUMBER >= 0.8


def _facts(item):
    return [(each.title, each.number) for each in item.sentences if each.is_fact]


def shuffled(items):
    """Return the items with kinds dealt anew, spans and facts anywhere."""
    rng = random.Random(1)
    kinds = [item.kind for item in items]
    rng.shuffle(kinds)
    return [_with(item, kind, rng) for item, kind in zip(items, kinds, strict=True)]


def _with(item, kind, rng):
    first = rng.randrange(len(item.tokens) - 3)
    facts = [each.is_fact for each in item.sentences]
    rng.shuffle(facts)
    sentences = tuple(
        replace(each, is_fact=is_fact) for each, is_fact in zip(item.sentences, facts, strict=True)
    )
    last = first + rng.randrange(3)
    if kind == SPAN:
        span, answer = (first, last), item.text[item.starts[first] : item.ends[last]]
    else:
        span, answer = None, WORDS[kind]
    return replace(item, kind=kind, span=span, answer=answer, sentences=sentences)
