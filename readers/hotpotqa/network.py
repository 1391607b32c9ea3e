"""The paper's network: instances as tensors, the layers, and answers from their scores (5.1)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from readers.hotpotqa.preprocessing import NO, SPAN, TITLE, YES, Instance, Sentence
from readers.learners.heads import masked
from readers.learners.layers import (
    BiAttention,
    CharacterCNN,
    GRUEncoder,
    VariationalDropout,
    character_ids,
)
from readers.learners.vocabulary import Vocabulary


@dataclass(frozen=True)
class Quirks:
    """What the official code does besides, each off unless results must be as published.

    attend_padding: which places of the context matter is also sought in its padding. pad_questions:
    a question is read through its padding. pad_kinds: the kind of answer is told from the padding
    too. see_itself: in self-attention a place sees itself. wide_products: products of states weigh
    between 1/√width and 1 at first. titles_as_facts: titles can be predicted as supporting facts.
    absent_is_start: where a context has not the answer its first two tokens are learned.
    leave_out: questions that are too long are left out, those to be answered too; else contexts are
    cut.
    """

    attend_padding: bool = False
    pad_questions: bool = False
    pad_kinds: bool = False
    see_itself: bool = False
    wide_products: bool = False
    titles_as_facts: bool = False
    absent_is_start: bool = False
    leave_out: bool = False


NAMES = tuple(each.name for each in fields(Quirks))
NONE = Quirks()
AS_PUBLISHED = Quirks(**dict.fromkeys(NAMES, True))


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


N_KINDS = 3


@dataclass(frozen=True)
class Sizes:
    """Of the network: all states have twice `hidden` features, read from both sides."""

    hidden: int
    character_width: int
    character_filters: int
    dropout: float


class Logits(NamedTuple):
    """start, end: B × C; kind: B × 3; support: B × S, of one against 0."""

    start: Tensor
    end: Tensor
    kind: Tensor
    support: Tensor


class Network(nn.Module):
    """Says for each token whether the answer begins or ends there, its kind, and which facts.

    vectors: a row for each word, that of padding zero; frozen: they are not trained.
    characters: how many there are, none for a network without the character model.
    """

    def __init__(
        self,
        vectors: Tensor,
        n_characters: int,
        sizes: Sizes,
        quirks: Quirks = NONE,
        *,
        frozen: bool = True,
        self_attention: bool = True,
    ) -> None:
        super().__init__()
        hidden, width = sizes.hidden, vectors.shape[1]
        self.quirks = quirks
        self.words = nn.Embedding.from_pretrained(vectors, freeze=frozen, padding_idx=0)
        self.characters = None
        if n_characters:
            self.characters = CharacterCNN(
                n_characters,
                sizes.character_width,
                sizes.character_filters,
                windows="all",
                rectified=False,
            )
            width += sizes.character_filters
        self.dropout = VariationalDropout(sizes.dropout)
        self.encoder = _encoder(width, hidden)
        self.attention = _attention(hidden, quirks)
        self.merged = _merging(hidden)
        self.self_encoder = self.self_attention = self.self_merged = None
        if self_attention:
            self.self_encoder = _encoder(hidden, hidden)
            self.self_attention = _attention(hidden, quirks)
            self.self_merged = _merging(hidden)
        self.support_encoder = _encoder(hidden, hidden)
        self.support = nn.Linear(2 * hidden, 1)
        self.start_encoder = _encoder(3 * hidden, hidden)
        self.start = nn.Linear(2 * hidden, 1)
        self.end_encoder = _encoder(3 * hidden, hidden)
        self.end = nn.Linear(2 * hidden, 1)
        self.kind_encoder = _encoder(3 * hidden, hidden)
        self.kind = nn.Linear(2 * hidden, N_KINDS)

    def forward(self, batch: Batch) -> Logits:
        """Return what the batch's contexts say."""
        mask, lengths = batch.words > 0, batch.lengths
        context = self._attended(batch, mask)
        facts = self._read(self.support_encoder, context, lengths)
        sentences = _sentence_states(facts, batch)
        beside = _of_tokens(sentences, batch.sentence_of)
        starts = self._read(self.start_encoder, torch.cat([context, beside], -1), lengths)
        ends = self._read(self.end_encoder, torch.cat([context, starts], -1), lengths)
        kinds = self._read(self.kind_encoder, torch.cat([context, ends], -1), lengths)
        if not self.quirks.pad_kinds:
            kinds = kinds.masked_fill(~mask[..., None], -torch.inf)
        return Logits(
            masked(self.start(starts).squeeze(-1), mask),
            masked(self.end(ends).squeeze(-1), mask),
            self.kind(kinds.max(1).values),
            self.support(sentences).squeeze(-1),
        )

    def _attended(self, batch: Batch, mask: Tensor) -> Tensor:
        """Return the context's states after both attentions, B × C × hidden."""
        context = self._embedded(batch.words, batch.characters)
        question = self._embedded(batch.question_words, batch.question_characters)
        question_lengths = None if self.quirks.pad_questions else batch.question_lengths
        context = self._read(self.encoder, context, batch.lengths)
        question = self._read(self.encoder, question, question_lengths)
        x_mask = None if self.quirks.attend_padding else mask
        x, y = self.dropout(context), self.dropout(question)
        merged: Tensor = self.merged(self.attention(x, y, x_mask, batch.question_words > 0))
        if self.self_encoder is None or self.self_attention is None or self.self_merged is None:
            return merged
        again = self._read(self.self_encoder, merged, batch.lengths)
        seen = mask[:, None, :]
        if not self.quirks.see_itself:
            seen = seen & ~torch.eye(mask.shape[1], dtype=torch.bool, device=mask.device)
        x, y = self.dropout(again), self.dropout(again)
        return merged + self.self_merged(self.self_attention(x, y, x_mask, seen))

    def _embedded(self, words: Tensor, characters: Tensor) -> Tensor:
        vectors: Tensor = self.words(words)
        if self.characters is None:
            return vectors
        return torch.cat([vectors, self.characters(characters)], -1)

    def _read(self, encoder: GRUEncoder, states: Tensor, lengths: Tensor | None) -> Tensor:
        found: Tensor = encoder(self.dropout(states), lengths)
        return found


def _encoder(width: int, hidden: int) -> GRUEncoder:
    return GRUEncoder(width, hidden, learned_start=True)


def _attention(hidden: int, quirks: Quirks) -> BiAttention:
    return BiAttention(
        2 * hidden, bias=False, by_attended=True, published_product=quirks.wide_products
    )


def _merging(hidden: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(8 * hidden, hidden), nn.ReLU())


def _sentence_states(states: Tensor, batch: Batch) -> Tensor:
    """Return B × S × 2 hidden: backwards at a sentence's first token, forwards at its last.

    Zeros where there is no sentence.
    """
    forwards, backwards = states.chunk(2, -1)
    there = (batch.first >= 0)[..., None]
    found = torch.cat([_at(backwards, batch.first), _at(forwards, batch.last)], -1)
    return found * there


def _of_tokens(sentences: Tensor, sentence_of: Tensor) -> Tensor:
    """Return B × C × features: of each token the state of its sentence, zeros where in none."""
    return _at(sentences, sentence_of) * (sentence_of >= 0)[..., None]


def _at(states: Tensor, places: Tensor) -> Tensor:
    """Return the states at these places of their texts; of places below 0 the first one's."""
    index = places.clamp(min=0)[..., None].expand(-1, -1, states.shape[-1])
    return states.gather(1, index)


def losses(logits: Logits, batch: Batch) -> dict[str, Tensor]:
    """Return the sums of kind, start and end over the batch, and the mean of support."""
    sums = {
        "kind": cross_entropy(logits.kind, batch.kind, reduction="sum"),
        "start": cross_entropy(logits.start, batch.start, reduction="sum", ignore_index=IGNORED),
        "end": cross_entropy(logits.end, batch.end, reduction="sum", ignore_index=IGNORED),
    }
    told = batch.facts != IGNORED
    against = torch.stack([torch.zeros_like(logits.support), logits.support], -1)[told]
    # A context without a sentence that may be a fact teaches nothing of facts.
    support = cross_entropy(against, batch.facts[told]) if told.any() else logits.support.sum() * 0
    return {**sums, "support": support}


def loss(logits: Logits, batch: Batch, support_weight: float) -> Tensor:
    """Return what is trained by: questions' losses divided by their number, and that of facts."""
    parts = losses(logits, batch)
    answers = (parts["kind"] + parts["start"] + parts["end"]) / len(batch.words)
    return answers + support_weight * parts["support"]


# Of a span, from its first token to its last.
MOST_TOKENS_ON = 15
WORDS = {YES: "yes", NO: "no"}


def best_spans(start: Tensor, end: Tensor) -> tuple[Tensor, Tensor]:
    """Return the first and last token of the best span of each row, at most MOST_TOKENS_ON apart.

    start, end: B × C logits. The official code takes the row and the column of the best by
    themselves: where spans are equally good these are of a best one too.
    """
    n_tokens = start.shape[1]
    allowed = torch.ones(n_tokens, n_tokens, dtype=torch.bool, device=start.device)
    allowed = allowed.triu().tril(MOST_TOKENS_ON)
    both = (start[:, :, None] + end[:, None]).masked_fill(~allowed, -torch.inf)
    return both.amax(2).argmax(1), both.amax(1).argmax(1)


@dataclass(frozen=True)
class Answered:
    """What the network says of one question.

    facts: [title, sentence] pairs; loss: the sum of the cross-entropies of what it answers, by
    which answers are told that it is sure of.
    """

    id: str
    answer: str
    facts: tuple[tuple[str, int], ...]
    loss: float


def answered(
    logits: Logits, items: Sequence[Instance], threshold: float, quirks: Quirks = NONE
) -> list[Answered]:
    """Return what the logits of one batch say, in the order of its items.

    threshold: a sentence that is likelier than that to be a supporting fact is one.
    """
    firsts, lasts = best_spans(logits.start, logits.end)
    starts, ends = (-each.log_softmax(-1) for each in (logits.start, logits.end))
    kinds, likely = -logits.kind.log_softmax(-1), logits.support.sigmoid() > threshold
    found = []
    for row, item in enumerate(items):
        kind, first, last = (int(each) for each in (kinds[row].argmin(), firsts[row], lasts[row]))
        loss = float(kinds[row, kind])
        if kind == SPAN:
            loss += float(starts[row, first] + ends[row, last])
        facts = tuple(
            (sentence.title, sentence.number)
            for sentence, is_fact in zip(item.sentences, likely[row].tolist(), strict=False)
            if is_fact and (sentence.number != TITLE or quirks.titles_as_facts)
        )
        found.append(Answered(item.id, words_of(item, kind, first, last), facts, loss))
    return found


def words_of(instance: Instance, kind: int, first: int, last: int) -> str:
    """Return an answer as it stands in the context, or yes or no."""
    if kind != SPAN:
        return WORDS[kind]
    return instance.text[instance.starts[first] : instance.ends[last]]
