"""One run of BiDAF++: trained by its recipe, and its answers in the official layout."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import get_args

from annotation.protocols.quac.scoring import prediction_line
from annotation.protocols.quac.turns import read_turns
from readers.learners.characters import Windows
from readers.learners.encoder import load_encoder
from readers.learners.vocabulary import (
    Unknown,
    Vectors,
    Vocabulary,
    counted_vocabulary,
    file_vectors,
    random_vectors,
)
from readers.quac.decoding import Decoding
from readers.quac.dialogs import Dialog, dialogs_of
from readers.quac.learner import BidafLearner
from readers.quac.network import Bidaf, Sizes
from readers.quac.states import States
from readers.trainer.recipe import Recipe
from readers.trainer.run import Run
from readers.trainer.trainer import device

# What tells the baselines from each other: k, the number of previous turns (QuAC 5.3).
TURNS = "turns"


def train(run: Run) -> None:
    """Train BiDAF++ with the run's number of previous turns, and answer its dev file."""
    dialogs = [dialog for path in run.train for dialog in dialogs_of(read_turns(path))]
    asked = dialogs_of(read_turns(run.dev))
    run.note(questions=_n_questions(dialogs), dev_questions=_n_questions(asked))
    learner = learner_of(run, dialogs)
    run.fit(learner, dialogs, asked)
    answers = run.answers(learner, asked)
    lines = [
        prediction_line([each.turn.qid for each in dialog.asked], given)
        for dialog, given in zip(asked, answers, strict=True)
    ]
    run.predictions.write_text("".join(lines), encoding="utf-8")


def learner_of(run: Run, dialogs: Sequence[Dialog]) -> BidafLearner:
    """Return what the run is to train on these dialogs; raises ReaderError."""
    recipe, states, vectors, vocabulary = run.recipe, None, None, None
    if run.encoder:
        states = States(
            load_encoder(run.encoder_of()),
            recipe.integer("window"),
            recipe.integer("stride"),
            device(),
        )
    # Words stand in for ELMo where there is no encoder.
    elif recipe.integer("word_width") or recipe.text("vectors"):
        vocabulary = _vocabulary(dialogs, recipe)
        vectors = _vectors(vocabulary, recipe, run.seed)
        run.note(words=len(vocabulary), words_with_given_vectors=vectors.n_known)
    model = Bidaf(
        sizes_of(recipe, _turns(run), states.width if states else 0),
        None if vectors is None else vectors.matrix,
    )
    return BidafLearner(
        model,
        vocabulary,
        states,
        recipe.integer("longest_answer"),
        recipe.choice("decoding", get_args(Decoding)),
    )


def sizes_of(recipe: Recipe, turns: int, contextual: int = 0) -> Sizes:
    """Return the network's sizes and switches that a recipe tells; raises ReaderError."""
    return Sizes(
        turns=turns,
        hidden=recipe.integer("hidden"),
        character_width=recipe.integer("character_width"),
        filters=recipe.integer("filters"),
        character_windows=recipe.choice("character_windows", get_args(Windows)),
        marker=recipe.integer("marker"),
        longest_dialog=recipe.integer("longest_dialog"),
        dropout=recipe.number("dropout"),
        embedding_dropout=recipe.number("embedding_dropout"),
        contextual=contextual,
    )


def _n_questions(dialogs: Sequence[Dialog]) -> int:
    return sum(len(dialog.asked) for dialog in dialogs)


def _turns(run: Run) -> int:
    turns = run.settings.get(TURNS, 0)
    assert isinstance(turns, int)
    return turns


def _vocabulary(dialogs: Sequence[Dialog], recipe: Recipe) -> Vocabulary:
    """Return the words of the training sections, each section once, and of the questions.

    With a file of vectors a word that is seen once has one, too.
    """
    sections = {dialog.text: dialog.words for dialog in dialogs}.values()
    questions = (asked.words for dialog in dialogs for asked in dialog.asked)
    least = 1 if recipe.text("vectors") else recipe.integer("least_count")
    return counted_vocabulary(chain(sections, questions), least=least)


def _vectors(vocabulary: Vocabulary, recipe: Recipe, seed: int) -> Vectors:
    path = recipe.text("vectors")
    if not path:
        return random_vectors(vocabulary, recipe.integer("word_width"), seed)
    return file_vectors(
        vocabulary, Path(path), recipe.choice("unknown_vectors", get_args(Unknown)), seed
    )
