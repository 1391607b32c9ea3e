"""Each baseline learns 32 real questions by heart, and from shuffled labels nothing."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
import torch

from annotation.protocols.bookqa.baselines import TRAINED
from annotation.protocols.bookqa.ranking import words
from annotation.protocols.bookqa.scoring import read_gold
from readers.bookqa.classifying import (
    TYPES,
    Classifier,
    TypeClassifier,
    Typed,
)
from readers.bookqa.material import (
    DEV,
    Asked,
    Material,
    parted,
    read_material,
)
from readers.bookqa.passage_rankers import (
    Cloze,
    Pair,
    PassageRanker,
    Ranking,
    cloze_items,
    supervised_items,
)
from readers.bookqa.reading import Extractor, weak_labels
from readers.bookqa.tests.making import (
    dev_file,
    story_files,
    summary_files,
)
from readers.bookqa.writing import Reader, mean_rouge_l
from readers.learners.encoder import Encoder
from readers.learners.seq2seq import Limits, load_writer
from readers.tests.by_heart import fit_by_heart
from readers.tests.tiny_encoders import tiny_encoder
from readers.tests.tiny_writers import tiny_writer
from readers.trainer.recipe import Recipe

torch.set_num_threads(1)
pytestmark = [pytest.mark.data, pytest.mark.pure]
ENOUGH = 0.95
N = 32
SPANS = Recipe(
    "tests",
    {
        "window": 384,
        "stride": 128,
        "longest_span": 24,
        "hard_after": 0.5,
        "published_losses": False,
    },
)


# Which passages they are given and what they have read before makes no other learner of them.
GIVEN = ("passages", "pre_reading")


def one_of_each(module: str) -> list[str]:
    """Return the names of the systems of a module, one of those that learn by the same code."""
    found: dict[str, str] = {}
    for name, about in TRAINED.items():
        if about.module == module:
            settings = {key: each for key, each in about.settings.items() if key not in GIVEN}
            found.setdefault(f"{about.recipe} {settings}", name)
    return list(found.values())


def test_there_is_no_system_that_learns_by_other_code() -> None:
    modules = {about.module for about in TRAINED.values()}
    assert modules == {
        f"readers.bookqa.{name}"
        for name in ("writing", "reading", "passage_rankers", "classifying")
    }
    trainings = [
        cast(Sequence[str], about.settings.get("training", ())) for about in TRAINED.values()
    ]
    stages = {stage for training in trainings for stage in training}
    # What hard EM chooses, and what no filter has left out, is learned as distant supervision is.
    assert stages == {"distant", "unfiltered", "ict", "hard-em"}


@pytest.fixture(autouse=True)
def _seeded() -> None:
    """Have every test begin with the same weights and draws."""
    torch.manual_seed(0)
    random.seed(0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files")


@pytest.fixture(scope="module")
def material(data: Path, folder: Path) -> Material:
    return read_material([*story_files(folder, data), *summary_files(folder, data)])


@pytest.fixture(scope="module")
def questions(data: Path, folder: Path, material: Material) -> tuple[list[Asked], list[Asked]]:
    """Return 32 questions about stories to learn, and 32 others, with two passages each."""
    gold = read_gold(dev_file(folder, data), DEV)
    learnt, others = parted(material.about_stories(), gold, folder)
    assert (len(learnt), len(others)) == (32, 32)
    assert not {one.id for one in learnt} & {one.id for one in others}
    return [one.first(2) for one in learnt], [one.first(2) for one in others]


def once(asked: Sequence[Asked]) -> list[Asked]:
    """Return the questions with their first answers alone."""
    return [replace(one, answers=one.answers[:1]) for one in asked]


def shuffled(asked: Sequence[Asked]) -> list[Asked]:
    """Return the questions with the answers of others."""
    answers = [one.answers for one in asked]
    random.Random(1).shuffle(answers)
    return [replace(one, answers=of) for one, of in zip(asked, answers, strict=True)]


def fit(
    learner: Any,
    items: Sequence[Any],
    is_learnt: Callable[[], bool],
    rate: float = 5e-3,
    batch: int = 16,
) -> None:
    """Train until it is learnt, or fail."""
    fit_by_heart(learner, items, is_learnt, rate=rate, batch=batch)


def exact(items: Sequence[Asked], answers: Sequence[str]) -> float:
    # Tiny tokenizers part words at apostrophes, as coverage does.
    pairs = zip(items, answers, strict=True)
    return sum(words(said) == words(one.answers[0]) for one, said in pairs) / len(items)


def check_chance(items: Sequence[Asked], answers: Sequence[str]) -> None:
    """Fail where answers go with their own questions better than with any others."""
    rng, by_chance = random.Random(0), []
    for _ in range(400):
        order = rng.sample(list(answers), len(answers))
        by_chance.append(mean_rouge_l(items, order))
    assert mean_rouge_l(items, answers) <= sorted(by_chance)[-4]


def writer_of(kind: str, asked: Sequence[Asked], folder: Path, *, read: int = 40) -> Any:
    texts = [text for one in asked for text in (one.question, *one.answers, *one.passages)]
    return load_writer(tiny_writer(kind, texts, folder), Limits(read, 14))


def made_writer(name: str, known: Sequence[Asked], folder: Path) -> tuple[Reader, float]:
    """Return a system that writes, of random weights, and how fast it learns."""
    about = TRAINED[name]
    kind = next(kind for kind in ("gpt2", "bart", "t5") if kind in about.recipe)
    writer = writer_of(kind, known, folder)
    rate = 2e-3 if kind == "bart" else 5e-3
    return Reader(writer, fusion=bool(about.settings.get("fusion"))), rate


def asked_of(name: str, questions: Any, material: Material) -> tuple[list[Asked], list[Asked]]:
    """Return 32 questions to learn and 32 others, about stories or about summaries."""
    if TRAINED[name].settings.get("about") != "summary":
        return once(questions[0]), once(questions[1])
    told = once(material.about_summaries())
    learnt = [one for one in told if one.set == "train"]
    others = [one for one in told if one.set != "train"]
    assert (len(learnt), len(others)) == (N, N)
    return learnt, others


@pytest.mark.parametrize("name", one_of_each("readers.bookqa.writing"))
def test_readers_that_write_learn_their_answers_by_heart(
    name: str, questions: Any, material: Material, tmp_path: Path
) -> None:
    items, _ = asked_of(name, questions, material)
    learner, rate = made_writer(name, items, tmp_path)
    fit(learner, items, lambda: exact(items, learner.answers(items)) >= ENOUGH, rate)


@pytest.mark.parametrize("name", one_of_each("readers.bookqa.writing"))
def test_what_a_reader_learns_of_others_answers_helps_with_no_question(
    name: str, questions: Any, material: Material, tmp_path: Path
) -> None:
    learnt, others = asked_of(name, questions, material)
    learnt = shuffled(learnt)
    learner, rate = made_writer(name, [*learnt, *others], tmp_path)
    fit(learner, learnt, lambda: exact(learnt, learner.answers(learnt)) >= ENOUGH, rate)
    check_chance(others, learner.answers(others))


def spans_of(asked: Sequence[Asked]) -> list[Asked]:
    """Return the questions whose passages have a weak label, which takes the answer's place."""
    found = []
    for one in once(asked):
        context = " ".join(one.passages)
        for start, end in weak_labels(context, one.answers, every=False):
            found.append(replace(one, answers=(context[start:end],)))
    return found


def encoder_of(asked: Sequence[Asked]) -> Encoder:
    texts = [text for one in asked for text in (one.question, *one.passages)]
    return tiny_encoder(texts, random.Random(0))


@pytest.mark.parametrize("name", one_of_each("readers.bookqa.reading"))
def test_the_reader_of_spans_learns_its_weak_labels_by_heart(
    name: str, questions: Any, material: Material
) -> None:
    stories, summaries = [one.first(1) for one in questions[0]], material.about_summaries()
    # Some stories' passages hold nothing of the answer: of summaries there are as many as lack.
    sources = [stories, summaries]
    if TRAINED[name].settings.get("about") == "summary":
        sources.reverse()
    items = list({one.id: one for of in sources for one in reversed(spans_of(of))}.values())[:N]
    assert len(items) == N
    learner = Extractor(encoder_of(items), SPANS, hard_em=is_hard(name))
    assert all(learner.read(one).candidates for one in items)
    fit(learner, items, lambda: exact(items, learner.answers(items)) >= ENOUGH)


def is_hard(name: str) -> bool:
    """Return whether a system learns from the best of all its spans."""
    return bool(TRAINED[name].settings.get("hard_em"))


def test_as_published_the_losses_of_a_batch_are_added_up(questions: Any) -> None:
    items = spans_of([one.first(1) for one in questions[0]])[:4]
    losses = []
    for published in (False, True):
        recipe = Recipe("tests", {**SPANS.values, "published_losses": published})
        # The head's weights and all that is drawn are the same.
        torch.manual_seed(1)
        losses.append(Extractor(encoder_of(items), recipe, hard_em=True).loss(items).item())
    assert losses[1] == pytest.approx(4 * losses[0])


@pytest.mark.parametrize("name", one_of_each("readers.bookqa.reading"))
def test_what_is_learnt_of_shuffled_spans_helps_with_no_question(name: str, questions: Any) -> None:
    learnt = [one.first(1) for one in questions[0]]
    # Any span of the passages is taken for the answer.
    rng, items = random.Random(2), []
    for one in learnt:
        found = one.passages[0].split()
        place = rng.randrange(len(found) - 2)
        items.append(replace(one, answers=(" ".join(found[place : place + 2]),)))
    others = once([one.first(1) for one in questions[1]])
    learner = Extractor(encoder_of([*items, *others]), SPANS, hard_em=is_hard(name))
    fit(learner, items, lambda: mean_rouge_l(items, learner.answers(items)) >= 0.9)
    check_chance(others, learner.answers(others))


def ranker_of(asked: Sequence[Asked], negatives: int = 0) -> Ranking:
    return Ranking(PassageRanker(encoder_of(asked), 48), negatives)


def right_of(learner: Ranking, pairs: Sequence[Pair]) -> float:
    logits = learner.model([(one.question, one.passage) for one in pairs])
    right = [(logit.item() > 0) == one.is_right for logit, one in zip(logits, pairs, strict=True)]
    return sum(right) / len(right)


def test_a_ranker_learns_its_supervision_by_heart_and_of_shuffled_ones_nothing(
    data: Path, folder: Path, material: Material
) -> None:
    gold = read_gold(dev_file(folder, data), DEV)
    learnt, others = parted(material.about_stories(), gold, folder)
    some: list[Any] = supervised_items(material, learnt)[:32]
    assert {one.is_right for one in some} == {True, False}
    learner = ranker_of([*learnt, *others])
    fit(learner, some, lambda: right_of(learner, some) >= ENOUGH)

    marks = [one.is_right for one in some]
    random.Random(3).shuffle(marks)
    wrong = [replace(one, is_right=mark) for one, mark in zip(some, marks, strict=True)]
    learner = ranker_of([*learnt, *others])
    fit(learner, wrong, lambda: right_of(learner, wrong) >= ENOUGH)
    unseen: list[Any] = supervised_items(material, [replace(one, set="train") for one in others])
    always = max(share := sum(one.is_right for one in unseen) / len(unseen), 1 - share)
    error = (always * (1 - always) / len(unseen)) ** 0.5
    assert right_of(learner, unseen) <= always + 2 * error


def first_of(learner: Ranking, items: Sequence[Cloze]) -> float:
    """Return the share of sentences whose passage is ranked first."""

    def is_first(one: Cloze) -> bool:
        passages = [one.positive, *(one.book[at] for at in one.negatives)]
        return int(learner.model([(one.question, each) for each in passages]).argmax()) == 0

    return sum(map(is_first, items)) / len(items)


def test_of_sentences_of_other_passages_a_ranker_learns_nothing(
    material: Material, questions: Any
) -> None:
    rng = random.Random(5)
    learnt, others = [
        [replace(one, negatives=one.negatives[:2]) for one in cloze_items(material, of)[:N]]
        for of in (questions[0], [replace(one, set="train") for one in questions[1]])
    ]
    wrong: list[Any] = []
    for one in learnt:
        passages = [one.positive, *(one.book[at] for at in one.negatives)]
        rng.shuffle(passages)
        wrong.append(replace(one, positive=passages[0], book=passages, negatives=(1, 2)))
    learner = ranker_of([*questions[0], *questions[1]], negatives=2)
    fit(learner, wrong, lambda: first_of(learner, wrong) >= ENOUGH, batch=8)
    assert len(others) == N
    error = (2 / 9 / N) ** 0.5
    assert first_of(learner, others) <= 1 / 3 + 2 * error


def test_a_ranker_learns_which_passage_a_sentence_was_taken_from(
    material: Material, questions: Any
) -> None:
    items: list[Any] = cloze_items(material, questions[0])[:32]
    items = [replace(one, negatives=one.negatives[:2]) for one in items]
    learner = ranker_of(questions[0], negatives=2)

    fit(learner, items, lambda: first_of(learner, items) >= ENOUGH, batch=8)


def test_a_classifier_learns_types_by_heart_and_of_shuffled_ones_nothing(questions: Any) -> None:
    learnt, others = questions
    rng = random.Random(4)
    # No labels of the paper are published: any type is as good to be learnt by heart.
    items = [Typed(one.id, one.question, rng.choice(TYPES)) for one in learnt]
    unseen = [Typed(one.id, one.question, rng.choice(TYPES)) for one in others]
    learner = Classifier(TypeClassifier(encoder_of([*learnt, *others]), 0.0))
    fit(learner, items, lambda: learner.score(items, learner.answers(items)) >= ENOUGH)
    chance = 1 / len(TYPES)
    error = (chance * (1 - chance) / len(unseen)) ** 0.5
    assert learner.score(unseen, learner.answers(unseen)) <= chance + 2 * error
