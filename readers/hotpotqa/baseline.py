"""The paper's model, trained on official files (HotpotQA 5.1); its ablations are its settings."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from annotation.metrics.result import read_file
from annotation.metrics.supporting_facts import answer_measure
from annotation.protocols.hotpotqa.file_format import read
from readers.hotpotqa.network import (
    NAMES,
    Answered,
    Batch,
    Limits,
    Network,
    Quirks,
    Sizes,
    answered,
    collate,
    loss,
)
from readers.hotpotqa.preprocessing import (
    Instance,
    Paragraph,
    gold_paragraphs,
    instances,
    shortened,
    supporting_facts,
    tokenizer,
    whole_context,
)
from readers.learners.vocabulary import (
    Vocabulary,
    counted_vocabulary,
    file_vectors,
    random_vectors,
)
from readers.trained import ReaderError
from readers.trainer.recipe import Recipe, switches
from readers.trainer.run import Run

Item = Mapping[str, Any]
PARAGRAPHS: Mapping[str, Callable[[Item], list[Paragraph]]] = {
    "all": whole_context,
    "gold": gold_paragraphs,
    "facts": supporting_facts,
}


@dataclass(frozen=True)
class Variant:
    """Which of the paper's models: what `settings` of a trained baseline say.

    paragraphs: of PARAGRAPHS. facts: whether supporting facts are learned. without: levels of
    difficulty that are not learned from. as_published: with every quirk of the official code.
    """

    paragraphs: str = "all"
    facts: bool = True
    self_attention: bool = True
    characters: bool = True
    without: tuple[str, ...] = ()
    as_published: bool = False


@dataclass
class Reader:
    """The network with what it needs to read instances and to say what they are about."""

    model: Network
    words: Vocabulary
    characters: Vocabulary
    limits: Limits
    quirks: Quirks
    support_weight: float
    threshold: float

    def loss(self, items: Sequence[Instance]) -> Tensor:
        """Return the loss of one batch."""
        batch = self._batch(items)
        return loss(self.model(batch), batch, self.support_weight)

    def answers(self, items: Sequence[Instance]) -> list[Answered]:
        """Return the answers to one batch, in order."""
        return answered(self.model(self._batch(items)), items, self.threshold, self.quirks)

    def score(self, items: Sequence[Instance], answers: Sequence[Answered]) -> float:
        """Return the mean F1 of the answers."""
        found = [
            answer_measure(one.answer, item.answer).f1
            for one, item in zip(answers, items, strict=True)
        ]
        return sum(found) / max(1, len(found))

    def length(self, item: Instance) -> int:
        """Return how many tokens the context has."""
        return len(item.tokens)

    def _batch(self, items: Sequence[Instance]) -> Batch:
        batch = collate(
            items,
            self.words,
            self.characters,
            self.limits,
            titles_as_facts=self.quirks.titles_as_facts,
            absent_is_start=self.quirks.absent_is_start,
        )
        return batch.to(next(self.model.parameters()).device)


def train(run: Run) -> None:
    """Train the model that the run's settings name, and write its official predictions."""
    if run.encoder:
        raise ReaderError(
            f"--encoder {run.encoder}: this model has no encoder but word vectors; name their file "
            "as `vectors` in a recipe of your own."
        )
    variant = Variant(**cast(Mapping[str, Any], run.settings))
    quirks = quirks_of(run.recipe, as_published=variant.as_published)
    items, left_out = _learned(run, variant, quirks)
    asked = read_instances(_items(run.dev), run.recipe, quirks, variant.paragraphs)
    questions = list(asked)
    measured = questions
    if run.chosen_by is not None:
        chosen = read_instances(_items(run.chosen_by), run.recipe, quirks, variant.paragraphs)
        measured = list(chosen)
    reader, n_known = make_reader(items, run.recipe, quirks, variant, seed=run.seed)
    run.note(
        learned_from=len(items),
        **left_out,
        words=len(reader.words),
        words_with_vectors_of_the_file=n_known,
        characters=len(reader.characters),
        quirks=[name for name in NAMES if getattr(quirks, name)],
    )
    run.fit(reader, items, measured)
    answers = run.answers(reader, questions)
    predictions = {
        "answer": {one.id: one.answer for one in answers},
        "sp": {one.id: one.facts for one in answers} if variant.facts else {},
    }
    run.predictions.write_text(json.dumps(predictions, ensure_ascii=False), "utf-8")


def _learned(run: Run, variant: Variant, quirks: Quirks) -> tuple[list[Instance], dict[str, int]]:
    """Return what is learned from, and how many questions of the files are not."""
    found: list[Instance] = []
    n_labelled = n_kept = 0
    for path in run.train:
        labelled = _labelled(path)
        kept = [item for item in labelled if item.get("level") not in variant.without]
        found += read_instances(kept, run.recipe, quirks, variant.paragraphs)
        n_labelled, n_kept = n_labelled + len(labelled), n_kept + len(kept)
    return found, {
        "left_out_by_level": n_labelled - n_kept,
        "left_out_as_too_long": n_kept - len(found),
    }


def quirks_of(recipe: Recipe, *, as_published: bool = False) -> Quirks:
    """Return the switches that the recipe turns on, all of them where all is as published."""
    return Quirks(**switches(recipe, NAMES, all_on=as_published))


def make_reader(
    items: Sequence[Instance],
    recipe: Recipe,
    quirks: Quirks,
    variant: Variant,
    *,
    seed: int = 0,
) -> tuple[Reader, int]:
    """Return a reader that has learned nothing, and how many words have a vector of a file.

    items: what it is to learn from; its words are theirs. The vectors of the recipe's file are not
    trained; where it names none they are random, and trained. Raises ReaderError.
    """
    vectors = recipe.text("vectors")
    if not items:
        raise ReaderError("No question is left to learn from: see to --train, and to max_tokens.")
    texts = [text for item in items for text in (item.question, item.tokens)]
    least = recipe.integer("least_count")
    words = counted_vocabulary(texts, least=1 if vectors else least, any_case=True)
    if vectors:
        words, matrix = _with_vectors(words, Path(vectors), seed)
        n_known = len(words.words)
    else:
        matrix, n_known = random_vectors(words, recipe.integer("word_width"), seed)
    characters = counted_vocabulary(token for text in texts for token in text)
    reader = blank_reader(words, matrix, characters, recipe, quirks, variant, frozen=bool(vectors))
    return reader, n_known


def blank_reader(
    words: Vocabulary,
    vectors: Tensor,
    characters: Vocabulary,
    recipe: Recipe,
    quirks: Quirks,
    variant: Variant,
    *,
    frozen: bool = False,
) -> Reader:
    """Return a reader of these words and characters that has learned nothing.

    vectors: those of the words, frozen where they are not trained.
    """
    sizes = Sizes(
        hidden=recipe.integer("hidden"),
        character_width=recipe.integer("character_width"),
        character_filters=recipe.integer("character_filters"),
        dropout=recipe.number("dropout"),
    )
    model = Network(
        vectors,
        len(characters) if variant.characters else 0,
        sizes,
        quirks,
        frozen=frozen,
        self_attention=variant.self_attention,
    )
    return Reader(
        model,
        words,
        characters,
        Limits(recipe.integer("token_characters"), recipe.integer("max_sentences")),
        quirks,
        support_weight=recipe.number("support_weight") if variant.facts else 0.0,
        threshold=recipe.number("support_threshold"),
    )


def _with_vectors(words: Vocabulary, path: Path, seed: int) -> tuple[Vocabulary, Tensor]:
    """Return the words that the file has, and their vectors; what it has not is no word."""
    matrix = file_vectors(words, path, "zero", seed).matrix
    known = matrix.any(1)
    kept = [word for word in words.words if known[words.id(word)]]
    rows = torch.tensor([words.id(word) for word in kept])
    nothing = torch.zeros(2, matrix.shape[1])
    return Vocabulary(kept, any_case=True), torch.cat([nothing, matrix[rows]])


def read_instances(
    items: Iterable[Item], recipe: Recipe, quirks: Quirks, paragraphs: str = "all"
) -> Iterator[Instance]:
    """Yield the questions as the network reads them, too long ones cut or left out."""
    most, most_asked = recipe.integer("max_tokens"), recipe.integer("max_question_tokens")
    tokenize = tokenizer(recipe.text("language"))
    for each in instances(items, tokenize, PARAGRAPHS[paragraphs]):
        is_long = len(each.tokens) > most or len(each.question) > most_asked
        if not (is_long and quirks.leave_out):
            yield shortened(each, most, most_asked)


def _labelled(path: Path) -> list[Item]:
    items = _items(path)
    if not all("answer" in item for item in items):
        raise ReaderError(f"{path}: its questions have no answers; learn from a training file.")
    return items


def _items(path: Path) -> list[Item]:
    return cast(list[Item], list(read(str(path), read_file(path))))
