"""The network: embeddings, two attentions, and a classifier each for start, end, and both acts."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, dropout, relu

from readers.learners.layers import (
    N_BYTE_IDS,
    BiAttention,
    CharacterCNN,
    GRUEncoder,
    SelfAttention,
    VariationalDropout,
    Windows,
    hidden,
)
from readers.quac.dialogs import FOLLOWUP, N_PLACES, YESNO


@dataclass(frozen=True)
class Sizes:
    """Widths, shares and switches of a network.

    turns: k, how many previous turns it is told of. contextual: of an encoder's states, 0 for none.
    longest_dialog: in questions; later ones count as the last.
    """

    turns: int
    hidden: int
    character_width: int
    filters: int
    character_windows: Windows
    marker: int
    longest_dialog: int
    dropout: float
    embedding_dropout: float
    contextual: int = 0


class Text(NamedTuple):
    """A batch of texts, padded: what is known of each token of each.

    characters: (texts, tokens, characters); words: (texts, tokens) or None; contextual: (texts,
    tokens, width) or None; lengths: (texts,), in tokens.
    """

    characters: Tensor
    words: Tensor | None
    contextual: Tensor | None
    lengths: Tensor

    @property
    def mask(self) -> Tensor:
        """Return (texts, tokens), True where there is a token."""
        places = torch.arange(self.characters.shape[1], device=self.lengths.device)
        return places < self.lengths[:, None]


class Batch(NamedTuple):
    """Questions with their dialogs' sections.

    dialog: (questions,), which of the sections. number: (questions,), in the dialog, from 0. marks:
    (questions, k, tokens of the section). answer: (questions, 2), the first and last token; yesno,
    followup: (questions,).
    """

    section: Text
    question: Text
    dialog: Tensor
    number: Tensor
    marks: Tensor
    answer: Tensor
    yesno: Tensor
    followup: Tensor


class Scores(NamedTuple):
    """What the network says of each token of the section, by question.

    start, end: (questions, tokens), the least there is behind the section; yesno, followup:
    (questions, tokens, 3), of the acts if the answer ended there.
    """

    start: Tensor
    end: Tensor
    yesno: Tensor
    followup: Tensor


class Bidaf(nn.Module):
    """BiDAF++ with k previous turns.

    words: the words' vectors, (words, width); None where tokens have none.
    """

    def __init__(self, sizes: Sizes, words: Tensor | None) -> None:
        super().__init__()
        self.sizes = sizes
        self.characters = CharacterCNN(
            N_BYTE_IDS,
            sizes.character_width,
            sizes.filters,
            windows=sizes.character_windows,
        )
        width = sizes.filters + sizes.contextual
        self.words = None
        if words is not None:
            self.words = nn.Embedding.from_pretrained(words.clone(), freeze=False, padding_idx=0)
            width += words.shape[1]
        told = sizes.turns * sizes.marker
        if sizes.turns:
            self.number = nn.Embedding(sizes.longest_dialog, told)
            self.mark = nn.Embedding(1 + N_PLACES * sizes.turns, sizes.marker)
        both = 2 * sizes.hidden
        self.phrase = GRUEncoder(width + told, sizes.hidden)
        self.attention, self.merge = BiAttention(both), nn.Linear(4 * both, both)
        self.residual = GRUEncoder(both, sizes.hidden)
        self.self_attention, self.merge_self = SelfAttention(both), nn.Linear(3 * both, both)
        self.start = GRUEncoder(both, sizes.hidden)
        self.end = GRUEncoder(2 * both, sizes.hidden)
        self.starts, self.ends = nn.Linear(both, 1), nn.Linear(both, 1)
        self.yesno, self.followup = nn.Linear(both, len(YESNO)), nn.Linear(both, len(FOLLOWUP))
        self.drop = VariationalDropout(sizes.dropout)

    def forward(self, batch: Batch) -> Scores:
        """Return the scores of a batch."""
        lengths, mask = batch.section.lengths[batch.dialog], batch.section.mask[batch.dialog]
        question = self._question(batch)
        section = self._section(batch, lengths)
        merged = relu(self.merge(self.attention(section, question, mask, batch.question.mask)))
        residual = self.drop(self.residual(merged, lengths))
        merged = merged + relu(self.merge_self(self.self_attention(residual, mask)))
        merged = self.drop(merged)
        start = self.start(merged, lengths)
        end = self.end(torch.cat([merged, start], -1), lengths)
        return Scores(
            hidden(self.starts(start).squeeze(-1), mask),
            hidden(self.ends(end).squeeze(-1), mask),
            self.yesno(end),
            self.followup(end),
        )

    def loss(self, scores: Scores, batch: Batch) -> Tensor:
        """Return the mean over the questions of what start, end and both acts cost together.

        The acts are looked at where the true answer ends.
        """
        first, last = batch.answer.unbind(-1)
        rows = torch.arange(len(last), device=last.device)
        return (
            cross_entropy(scores.start, first)
            + cross_entropy(scores.end, last)
            + cross_entropy(scores.yesno[rows, last], batch.yesno)
            + cross_entropy(scores.followup[rows, last], batch.followup)
        )

    def _embedded(self, text: Text) -> Tensor:
        found = [self._dropped(self.characters(text.characters))]
        if self.words is not None:
            found.insert(0, self._dropped(self.words(text.words)))
        if text.contextual is not None:
            found.insert(0, self._dropped(text.contextual))
        return self.drop(torch.cat(found, -1))

    def _dropped(self, states: Tensor) -> Tensor:
        return dropout(states, self.sizes.embedding_dropout, self.training)

    def _question(self, batch: Batch) -> Tensor:
        """Return the questions' phrases; each token is told which question of the dialog it is."""
        found = self._embedded(batch.question)
        if self.sizes.turns:
            number = self.number(batch.number.clamp(max=self.sizes.longest_dialog - 1))
            found = torch.cat([found, number[:, None].expand(-1, found.shape[1], -1)], -1)
        return self.drop(self.phrase(found, batch.question.lengths))

    def _section(self, batch: Batch, lengths: Tensor) -> Tensor:
        """Return a section's phrases for every question, previous answers marked in it."""
        found = self._embedded(batch.section)
        if not self.sizes.turns:
            return self.drop(self.phrase(found, batch.section.lengths))[batch.dialog]
        marks = self.mark(batch.marks).transpose(1, 2).flatten(2)
        return self.drop(self.phrase(torch.cat([found[batch.dialog], marks], -1), lengths))
