"""Instances as tensors, padded to the longest of their batch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from readers.hotpotqa.preprocessing import SPAN, TITLE, Instance, Sentence
from readers.learners.characters import character_ids
from readers.learners.vocabulary import Vocabulary

# What the losses pass over.
IGNORED = -100


@dataclass(frozen=True)
class Batch:
    """B questions: contexts of C tokens, questions of Q, S sentences, K characters a token.

    Ids of words and characters are 0 where there is none. sentence_of: the sentence of each token,
    -1 where it is in none of the first S; first, last: tokens of each sentence, -1 where there is
    no such sentence. start, end, facts: IGNORED where there is nothing to learn.
    """

    words: Tensor
    """B × C."""
    characters: Tensor
    """B × C × K."""
    question_words: Tensor
    """B × Q."""
    question_characters: Tensor
    """B × Q × K."""
    lengths: Tensor
    """B; tokens of each context, on the processor."""
    question_lengths: Tensor
    """B; tokens of each question, on the processor."""
    sentence_of: Tensor
    """B × C."""
    first: Tensor
    """B × S."""
    last: Tensor
    """B × S."""
    start: Tensor
    """B."""
    end: Tensor
    """B."""
    kind: Tensor
    """B; SPAN, YES or NO."""
    facts: Tensor
    """B × S; 1 for a supporting fact, 0 for another sentence."""

    def to(self, device: torch.device) -> "Batch":
        """Return the batch on a device; lengths stay where packing wants them."""
        moved = {each.name: getattr(self, each.name) for each in fields(self)}
        return Batch(
            **{
                name: tensor if name.endswith("lengths") else tensor.to(device)
                for name, tensor in moved.items()
            }
        )


@dataclass(frozen=True)
class Limits:
    """How much of an instance is seen: characters of a token, sentences that can be facts."""

    characters: int
    sentences: int


def collate(
    items: Sequence[Instance],
    words: Vocabulary,
    characters: Vocabulary,
    limits: Limits,
    *,
    titles_as_facts: bool = False,
    absent_is_start: bool = False,
) -> Batch:
    """Return a batch of instances, in their order.

    titles_as_facts: a title is a sentence that is no fact, not one that nothing is learned of.
    absent_is_start: where the answer's words are missing the first two tokens are learned.
    """
    n_sentences = min(limits.sentences, max(len(item.sentences) for item in items))
    spans = [_target(item, absent_is_start=absent_is_start) for item in items]

    def spelled(texts: Sequence[Sequence[str]]) -> Tensor:
        return character_ids(texts, characters.ids, longest=limits.characters)

    def targets(one: Sentence) -> int:
        return IGNORED if one.number == TITLE and not titles_as_facts else int(one.is_fact)

    return Batch(
        words=_padded([words.ids(item.tokens) for item in items]),
        characters=spelled([item.tokens for item in items]),
        question_words=_padded([words.ids(item.question) for item in items]),
        question_characters=spelled([item.question for item in items]),
        lengths=torch.tensor([len(item.tokens) for item in items]),
        question_lengths=torch.tensor([len(item.question) for item in items]),
        sentence_of=_padded([_sentence_of(item, n_sentences) for item in items], -1),
        first=_of_sentences(items, n_sentences, lambda one: one.first, -1),
        last=_of_sentences(items, n_sentences, lambda one: one.end - 1, -1),
        start=torch.tensor([start for start, _ in spans]),
        end=torch.tensor([end for _, end in spans]),
        kind=torch.tensor([item.kind for item in items]),
        facts=_of_sentences(items, n_sentences, targets, IGNORED),
    )


def _padded(rows: Sequence[Sequence[int]], value: int = 0) -> Tensor:
    width = max(len(row) for row in rows)
    return torch.tensor([[*row, *[value] * (width - len(row))] for row in rows])


def _target(item: Instance, *, absent_is_start: bool) -> tuple[int, int]:
    if item.span is not None:
        return item.span
    if item.kind == SPAN and absent_is_start:
        return (0, 1)
    return (IGNORED, IGNORED)


def _sentence_of(item: Instance, most: int) -> list[int]:
    found = []
    for number, sentence in enumerate(item.sentences):
        found += [number if number < most else -1] * (sentence.end - sentence.first)
    return found


def _of_sentences(
    items: Sequence[Instance], most: int, of: Callable[[Sentence], int], none: int
) -> Tensor:
    """Return what is said of each of the first sentences, `none` where there is no word."""
    rows = [
        [none if one.first == one.end else of(one) for one in item.sentences[:most]]
        for item in items
    ]
    return torch.tensor([[*row, *[none] * (most - len(row))] for row in rows])
