"""An encoder beside the light reader learns, answers, and goes on where it was killed."""

import json
import random
from collections import Counter
from dataclasses import replace

import pytest

from annotation.baselines.training import Order
from annotation.protocols.hotpotqa.baselines import TRAINED
from collector.protocols.loading import get_protocol
from readers.hotpotqa.difficulty_reader import RECIPE as BASELINE
from readers.hotpotqa.pretrained import (
    SpanLearner,
    gold_example,
    made_questions,
    train,
)
from readers.hotpotqa.tests.making import items, real_items, write
from readers.light.light_reader import LightReader
from readers.reader import YES_NO
from readers.tests.every_baseline import check_killed, with_dropout
from readers.tests.tiny_encoders import save_encoder, tiny_encoder
from readers.trained import ReaderError
from readers.trainer import checkpoint
from readers.trainer.recipe import read_recipe
from readers.trainer.run import Run
from readers.trainer.trainer import Trainer, answered

RECIPE = BASELINE.with_name("encoder.toml")
NUMBER, SIZE = 32, 128
TINY = {"window": 64, "answer_window": 64, "questions": 12, "bfloat16": False}


def recipe(**values):
    """Return the recipe with these values over it, in both stages."""
    paper = read_recipe(RECIPE)
    pretraining = {**paper.values["pretraining"], **values}
    return replace(paper, values={**paper.values, **values, "pretraining": pretraining})


CHOSEN = recipe(
    bfloat16=False, epochs=50, batch=16, learning_rate=1e-2, weight_decay=0.0, warmup_share=0.05
)


def learner(examples, chosen=CHOSEN):
    """Return a tiny learner that has learned nothing, and the questions as it reads them."""
    texts = [one.question for one in examples]
    texts += [f"{text.title} : {text.text}" for one in examples for text in one.texts]
    checkpoint.seed_chance("1")
    made = SpanLearner(tiny_encoder(texts, random.Random(1), width=32), chosen)
    return made, [made.read(one, SIZE, {}) for one in examples]


def real_examples(data, number):
    """Return real questions for words of their two paragraphs."""
    found = [gold_example(item) for item in real_items(data, 2 * number)]
    _, read = learner(found)
    return [one for one, each in zip(found, read, strict=True) if each.spans][:number]


def exact(made, read):
    said = answered(made, read, CHOSEN.training())
    return made.score(read, said)


@pytest.mark.data
def test_it_learns_32_real_questions(data, tmp_path):
    made, read = learner(real_examples(data, NUMBER))
    assert exact(made, read) < 0.2
    Trainer(made, read, [], CHOSEN.training(), tmp_path, "1").fit()
    assert exact(made, read) >= 0.95


@pytest.mark.data
def test_shuffled_answers_teach_nothing_about_others(data, tmp_path):
    found = real_examples(data, 2 * NUMBER)
    random.Random(1).shuffle(found)
    made, read = learner(found)
    learned, others = [shuffled(one) for one in read[:NUMBER]], read[NUMBER:]
    Trainer(made, learned, [], CHOSEN.training(), tmp_path, "1").fit()
    # The best that can be said without reading.
    commonest = Counter(one.answer.lower() for one in others).most_common(1)[0][1]
    assert exact(made, others) <= commonest / len(others)


def shuffled(one):
    first = random.Random(one.key).randrange(one.window.begin, len(one.window.ids) - 4)
    return replace(one, spans=((first, first + 1),))


def run_of(folder, learned, asked, **given):
    """Return a tiny run."""
    texts = [text for item in learned for _, told in item["context"] for text in told]
    save_encoder(tiny_encoder(texts, random.Random(0), width=8), folder / "tiny")
    return Run(
        protocol="hotpotqa",
        name="encoder",
        train=(write(folder / "train.json", learned),),
        dev=write(folder / "dev.json", asked),
        out=folder,
        recipe=recipe(**TINY, epochs=1, batch=4),
        encoder=str(folder / "tiny"),
        settings=TRAINED["encoder"].settings,
        **given,
    )


def test_it_answers_every_question_of_a_file_whose_answers_it_is_not_told(tmp_path):
    asked = [{**item, "answer": "sealed", "supporting_facts": []} for item in items(4)]
    run = run_of(tmp_path, items(12)[4:], asked)
    train(run)
    told = json.loads(run.predictions.read_text("utf-8"))
    assert sorted(told["answer"]) == sorted(item["_id"] for item in asked)
    assert all(answer and answer != "sealed" for answer in told["answer"].values())
    assert [run.facts[key] for key in ("learned_from", "made_questions")] == [8, 12]


def test_paragraphs_of_questions_without_their_pair_are_read_and_nothing_else(tmp_path):
    lacking = [{**item, "context": item["context"][1:]} for item in items(12)[4:8]]
    run = run_of(tmp_path, [*lacking, *items(12)[8:]], items(4))
    train(run)
    assert [run.facts[key] for key in ("learned_from", "paragraphs_of")] == [4, 8]
    with pytest.raises(ReaderError, match="No question has its gold paragraphs"):
        train(run_of(tmp_path, lacking, items(4)))


def test_what_both_hold_likely_is_answered():
    examples = [gold_example(item) for item in items(12)]
    light = LightReader()
    light.fit(examples, random.Random(1))
    one = next(each for each in examples if each.answer not in YES_NO)
    held = {"yes": 0.1, "no": 0.1, "1900": 0.4, one.answer: 0.4}
    chosen = recipe(bfloat16=False, encoder_weight=0.0)
    made, _ = learner(examples, chosen)
    read = made.read(one, SIZE, held)
    [(first, last)] = read.spans
    start, end = (read_logits(len(read.window.ids), at) for at in (first, last))
    made.weight = 1.0
    assert made._answer(read, start, end) == one.answer
    kept = made.read(one, SIZE, {**held, "no": 0.9})
    assert made._answer(kept, start, end) == "no"


def read_logits(length, at):
    import torch

    logits = torch.zeros(length)
    logits[at] = 9.0
    return logits


def test_questions_are_made_of_paragraphs_alone():
    hidden = [{**item, "question": "?", "answer": "?"} for item in items(8)]
    assert made_questions(hidden, 9, 1) == made_questions(items(8), 9, 1) != []


def test_a_run_that_was_killed_gives_the_weights_of_one_that_was_not(tmp_path):
    learned = write(tmp_path / "train.json", items(12)[4:])
    asked = write(tmp_path / "dev.json", items(4))
    texts = [text for item in items(12) for _, told in item["context"] for text in told]
    save_encoder(tiny_encoder(texts, random.Random(0), width=8), tmp_path / "tiny")
    encoder = str(with_dropout(tmp_path / "tiny"))
    protocol = get_protocol("hotpotqa")
    order = Order(protocol, "encoder", (learned,), asked, tmp_path / "out", encoder=encoder)
    check_killed(order, tmp_path, **TINY)
