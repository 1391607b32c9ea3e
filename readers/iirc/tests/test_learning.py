"""What each stage can learn by heart, and that nothing is learned where there is nothing to learn.

Of IIRC sixteen real questions are at hand. The reader learns these and sixteen real ones of SQuAD
and DROP, and is tried on what is left of those and on invented ones. Links and windows can be
learned of few real ones, and one of all has no answer: there invented ones complete the thirty-two,
and of what has no answer all are invented.
"""

import json
import random
from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from math import sqrt
from pathlib import Path
from typing import Any

import pytest
import torch

from annotation.metrics.drop import exact_match
from annotation.protocols.iirc.baselines import TRAINED
from annotation.protocols.iirc.official_files import MAIN
from readers.iirc.pipeline import (
    COUNT,
    NUMBER,
    QUESTION,
    SPAN,
    Limits,
    ReaderItem,
    ReaderLearner,
    Ways,
    evidence_of,
    reader_item,
)
from readers.iirc.questions import Articles, Asked, read_questions
from readers.iirc.retrieval import (
    CONTEXTS,
    Context,
    ContextItem,
    ContextLearner,
    Cut,
    Cutter,
    LinkItem,
    LinkLearner,
    Quirks,
    cut_of,
    link_item,
    training_items,
)
from readers.iirc.tests.lighthouses import NAMES, articles, passage
from readers.iirc.tests.real import real
from readers.iirc.tests.test_recipe import RECIPE
from readers.iirc.unanswerable import (
    DetectorItem,
    DetectorLearner,
    detector_item,
)
from readers.learners.encoder import Encoder
from readers.tests.tiny_encoders import tiny_encoder
from readers.trainer.recipe import Recipe, read_recipe
from readers.trainer.run import Run

torch.set_num_threads(1)

N = 32
N_IIRC = 16
# Real texts with a window that holds all the evidence, and others.
N_WINDOWS = 17
CEILING = 0.95
LIMITS = Limits(positions=256)


def fitted(folder: Path, learner: Any, items: Sequence[Any], *, epochs: int) -> list[Any]:
    """Train on the items from random weights, and return what is answered of them."""
    (folder / "dev.json").write_text("[]")
    values = {"epochs": epochs, "batch": 8, "optimizer": "adam", "learning_rate": 3e-3, "clip": 1.0}
    values |= {"dev_steps": 40, "answer_batch": 16, "alike": 4}
    recipe = Recipe("test", values)
    run = Run("iirc", "test", (), folder / "dev.json", folder / "out", recipe, seed=1)
    run.begin()
    run.fit(learner, items, items)
    assert run.stages["reader"].steps <= epochs * (len(items) // 8 + 1)
    return run.answers(learner, items)


def answered(learner: Any, items: Sequence[Any]) -> list[Any]:
    """Return what is answered of other items."""
    learner.model.eval()
    with torch.no_grad():
        return [answer for item in items for answer in learner.answers([item])]


def at_most_by_chance(share: float, chance: float, number: int) -> bool:
    """Return whether a share is no more than chance and two standard errors of so many draws."""
    return share <= chance + 2 * sqrt(chance * (1 - chance) / number)


@pytest.fixture(scope="module")
def all_real(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Asked], Articles]:
    """Return the real questions, IIRC's own first, and what is known of the linked articles."""
    return real(tmp_path_factory.mktemp("real"))


@pytest.fixture(scope="module")
def invented(tmp_path_factory: pytest.TempPathFactory) -> list[Asked]:
    """Return sixty-four invented questions."""
    path = tmp_path_factory.mktemp("invented") / "invented.json"
    path.write_text(json.dumps([passage(at) for at in range(len(NAMES))]))
    return read_questions([path])


@pytest.fixture
def encoder(untrained: Encoder) -> Encoder:
    """Return a copy of the tiny encoder, with random weights; what is drawn next is the same."""
    torch.manual_seed(1)
    return deepcopy(untrained)


@pytest.fixture(scope="module")
def untrained(all_real: tuple[list[Asked], Articles], invented: list[Asked]) -> Encoder:
    """Return a tiny encoder that knows the words of all texts."""
    questions = [*all_real[0], *invented]
    texts = [text for asked in questions for text in (asked.text, asked.passage)]
    texts += [span.text for asked in questions for span in asked.evidence]
    return tiny_encoder(texts, random.Random(1))


def reader_items(encoder: Encoder, questions: Sequence[Asked]) -> list[ReaderItem]:
    """Return what the reader sees with gold contexts, of the questions that it can answer so."""
    items = [
        reader_item(
            encoder,
            asked,
            evidence_of(asked) or [Context(MAIN, asked.passage, 0, len(asked.passage))],
            LIMITS,
        )
        for asked in questions
    ]
    return [item for item in items if item.ways.types]


def em(items: Sequence[ReaderItem], answers: Sequence[str]) -> float:
    """Return the share of answers that are exactly right."""
    told = zip(items, answers, strict=True)
    hits = [exact_match(answer, item.asked.answers) for item, answer in told]
    return sum(hits) / len(hits)


def test_the_reader_learns_32_real_questions(
    encoder: Encoder, all_real: tuple[list[Asked], Articles], tmp_path: Path
) -> None:
    items = reader_items(encoder, all_real[0])[:N]
    assert len(items) == N
    assert {name for item in items for name in item.ways.types} >= {SPAN, NUMBER, COUNT}
    answers = fitted(tmp_path, ReaderLearner(encoder, LIMITS), items, epochs=60)
    assert em(items, answers) >= CEILING


def test_of_shuffled_answers_the_reader_learns_nothing(
    encoder: Encoder,
    all_real: tuple[list[Asked], Articles],
    invented: list[Asked],
    tmp_path: Path,
) -> None:
    known = reader_items(encoder, all_real[0])
    others = (known[N:] + reader_items(encoder, invented))[:N]
    rng, learner = random.Random(1), ReaderLearner(encoder, LIMITS)
    types = [item.ways.types for item in known[:N]]
    rng.shuffle(types)
    drawn = [drawn_ways(item, of, rng) for item, of in zip(known, types, strict=False)]
    fitted(tmp_path, learner, drawn, epochs=30)
    constant = Counter(item.asked.answers[0] for item in others).most_common(1)[0][0]
    chance = em(others, [constant] * N)
    assert at_most_by_chance(em(others, answered(learner, others)), chance, N)


def drawn_ways(item: ReaderItem, types: frozenset[str], rng: random.Random) -> ReaderItem:
    """Return the item with a right answer that is drawn, of the types of another's."""
    begin, last = item.window.begin, item.window.begin + len(item.window.offsets) - 1
    first = rng.randint(begin, last)
    question = item.window.question
    at = rng.randint(question[0], sum(question) - 1)
    signs = [0] * len(item.values)
    if signs:
        signs[rng.randrange(len(signs))] = 1
    held = {NUMBER} if signs else set()
    ways = Ways(
        spans=((first, min(first + 1, last)),),
        question_spans=((at, at),),
        signs=(tuple(signs),),
        count=rng.randint(0, 9),
        types=frozenset(types - {NUMBER} | types & held) or frozenset({SPAN}),
    )
    assert ways.types <= {SPAN, QUESTION, NUMBER, COUNT, "yes", "no", "none"}
    return replace(item, ways=ways)


def link_items(encoder: Encoder, questions: Sequence[Asked]) -> list[LinkItem]:
    """Return what link identification sees."""
    return [link_item(encoder, asked, asked.picked, Quirks(), 256) for asked in questions]


def decided(learner: LinkLearner, items: Sequence[LinkItem], answers: Sequence[Any]) -> float:
    """Return the share of links that are rightly chosen or left out."""
    hits = [
        (scored.score > learner.threshold) == bool(label)
        for item, links in zip(items, answers, strict=True)
        for scored, label in zip(links, item.labels, strict=True)
    ]
    return sum(hits) / len(hits)


def test_links_are_learned_of_all_real_questions(
    encoder: Encoder,
    all_real: tuple[list[Asked], Articles],
    invented: list[Asked],
    tmp_path: Path,
) -> None:
    items = link_items(encoder, [*all_real[0][:N_IIRC], *invented[: N - N_IIRC]])
    learner = LinkLearner(encoder, 0.5)
    answers = fitted(tmp_path, learner, items, epochs=40)
    assert learner.score(items, answers) >= CEILING


def test_of_shuffled_links_nothing_is_learned(
    encoder: Encoder,
    all_real: tuple[list[Asked], Articles],
    invented: list[Asked],
    tmp_path: Path,
) -> None:
    rng, learner = random.Random(1), LinkLearner(encoder, 0.5)
    items = link_items(encoder, [*all_real[0][:N_IIRC], *invented[: N - N_IIRC]])
    shuffled = [
        replace(item, labels=tuple(rng.sample(item.labels, len(item.labels)))) for item in items
    ]
    fitted(tmp_path, learner, shuffled, epochs=20)
    others = link_items(encoder, invented[N:])
    labels = [label for item in others for label in item.labels]
    chance = max(sum(labels), len(labels) - sum(labels)) / len(labels)
    share = decided(learner, others, answered(learner, others))
    assert at_most_by_chance(share, chance, len(labels))


def context_items(
    encoder: Encoder,
    all_real: tuple[list[Asked], Articles],
    invented: Sequence[Asked],
) -> list[ContextItem]:
    """Return texts of several small windows with a right one."""
    cutter = Cutter(encoder, Cut(context_tokens=400, window_tokens=40))
    items = training_items(cutter, all_real[0], all_real[1])
    small = Cutter(encoder, Cut(context_tokens=400, window_tokens=12))
    items += training_items(small, invented, Articles(articles()))
    return [item for item in items if len(item.windows) > 1 and not all(item.labels)]


def test_the_papers_windows_are_as_long_as_the_encoder_can_read(
    encoder: Encoder, all_real: tuple[list[Asked], Articles]
) -> None:
    (asked, *_), articles = all_real
    recipe = read_recipe(RECIPE).of(CONTEXTS)
    by_paper = replace(recipe, values={**recipe.values, "windows": "paper", "positions": 128})
    code, paper = (Cutter(encoder, cut_of(each)) for each in (recipe, by_paper))

    assert code.window(asked.text, 0) == (100, 25)
    assert code.window(asked.text, 8) == (50, 12)
    # [CLS], the question, and after each text [SEP]: the rest is the passage's and the articles'.
    left = 128 - len(encoder.pieces(asked.text)) - 4
    sizes = {n_links: paper.window(asked.text, n_links) for n_links in (0, 1, 3)}
    assert sizes == {n: (left // (n + 1), left // (n + 1) // 4) for n in sizes}
    size, stride = sizes[1]
    main = encoder.pieces(asked.passage).cut(0, size)
    text = next(text for title in asked.documents if (text := articles.text(title)))
    item = paper.item(asked.text, "an article", text, (), main, size, stride)
    assert 126 <= max(len(window.ids) for window in item.windows) <= 128


def test_windows_are_learned_of_all_real_evidence(
    encoder: Encoder,
    all_real: tuple[list[Asked], Articles],
    invented: list[Asked],
    tmp_path: Path,
) -> None:
    items = context_items(encoder, all_real, invented)[:N]
    assert len(items) == N
    learner = ContextLearner(encoder, most_windows=8)
    answers = fitted(tmp_path, learner, items, epochs=40)
    assert learner.score(items, answers) >= CEILING


def test_of_shuffled_windows_nothing_is_learned(
    encoder: Encoder,
    all_real: tuple[list[Asked], Articles],
    invented: list[Asked],
    tmp_path: Path,
) -> None:
    rng, learner = random.Random(1), ContextLearner(encoder, most_windows=8)
    items = context_items(encoder, all_real, invented)
    shuffled = [
        replace(item, labels=tuple(rng.sample(item.labels, len(item.labels))))
        for item in items[:N_WINDOWS]
    ]
    # The invented texts are so much alike that what is drawn of some tells of others.
    fitted(tmp_path, learner, shuffled, epochs=30)
    others = items[N_WINDOWS : N_WINDOWS + N]
    assert len(others) == N
    chance = sum(sum(item.labels) / len(item.labels) for item in others) / N
    share = learner.score(others, answered(learner, others))
    assert at_most_by_chance(share, chance, N)


def detector_items(encoder: Encoder, questions: Sequence[Asked], name: str) -> list[DetectorItem]:
    """Return what a detector sees: the question, its passage too, or gold contexts too."""
    sees, found = TRAINED[name].settings["sees"], []
    for asked in questions:
        passage = [Context(MAIN, asked.passage, 0, len(asked.passage))]
        of_links = [each for each in evidence_of(asked) if each.document != MAIN]
        contexts = {"question": [], "passage": passage, "context": passage + of_links}[str(sees)]
        found.append(detector_item(encoder, asked, contexts, 96))
    return found


DETECTORS = [name for name, about in TRAINED.items() if "sees" in about.settings]


def test_every_baseline_is_made_of_what_is_tested_here() -> None:
    assert {about.module for about in TRAINED.values()} == {
        "readers.iirc.pipeline",
        "readers.iirc.unanswerable",
    }
    # With gold links or contexts it learns as it does without.
    assert {name for name in TRAINED if not TRAINED[name].learns_as} == {"pipeline", *DETECTORS}


@pytest.mark.parametrize("name", DETECTORS)
def test_what_has_no_answer_is_learned_of_32_questions_and_of_others(
    name: str, encoder: Encoder, invented: list[Asked], tmp_path: Path
) -> None:
    items = detector_items(encoder, invented, name)
    learner = DetectorLearner(encoder)
    answers = fitted(tmp_path, learner, items[:N], epochs=20)
    assert learner.score(items[:N], answers) >= CEILING
    # Invented ones are asked alike: what is true of these is true of others, as nothing drawn is.
    assert not at_most_by_chance(decided_of(learner, items[N:]), 0.75, N)


def decided_of(learner: DetectorLearner, items: Sequence[DetectorItem]) -> float:
    """Return the share of questions of which it is rightly said whether they have an answer."""
    told = zip(items, answered(learner, items), strict=True)
    return sum(item.is_none == said for item, said in told) / len(items)


@pytest.mark.parametrize("name", DETECTORS)
def test_of_shuffled_questions_nothing_is_learned(
    name: str, encoder: Encoder, invented: list[Asked], tmp_path: Path
) -> None:
    items = detector_items(encoder, invented, name)
    none = [item.is_none for item in items[:N]]
    random.Random(1).shuffle(none)
    shuffled = [replace(item, is_none=of) for item, of in zip(items[:N], none, strict=True)]
    learner = DetectorLearner(encoder)
    fitted(tmp_path, learner, shuffled, epochs=20)
    assert at_most_by_chance(decided_of(learner, items[N:]), 0.75, N)


def test_what_is_sixteen_is_sixteen(all_real: tuple[list[Asked], Articles]) -> None:
    own = [asked for asked in all_real[0] if asked.links]
    assert len(own) == N_IIRC
    assert own == all_real[0][:N_IIRC]
    assert len(all_real[0]) == 47
