"""The network of the paper's model (HotpotQA 5.1, Figure 3), with its ablations and its quirks."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from readers.hotpotqa.batches import IGNORED, Batch
from readers.hotpotqa.quirks import NONE, Quirks
from readers.learners.attention import BiAttention
from readers.learners.characters import CharacterCNN
from readers.learners.heads import masked
from readers.learners.recurrent import GRUEncoder, VariationalDropout

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
