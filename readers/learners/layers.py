"""Layers that the papers' recurrent readers share: characters, GRUs, attention."""

import math
from collections.abc import Callable, Sequence
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, pad, relu
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

# Of byte_ids: 0 is padding, 1 to 256 are bytes, and a word has a mark at either end.
N_BYTE_IDS, BEGIN, END = 262, 259, 260
# Which windows of a word count:
#   own    those that begin in it and end in it, one at least: the same whatever the batch holds;
#   whole  those that end in it, so that a word shorter than a window is nothing but zeros
#          (AllenNLP 2.10, as published);
#   all    those over the padding behind it too, so that what a word is depends on the longest one
#          of its batch (AllenNLP 0.9), or on the one length to which all words are padded.
Windows = Literal["own", "whole", "all"]


def byte_ids(word: str) -> list[int]:
    """Return a word's bytes as AllenNLP numbers them, a mark at either end."""
    return [BEGIN, *(byte + 1 for byte in word.encode()), END]


def character_ids(
    texts: Sequence[Sequence[str]],
    of: Callable[[str], Sequence[int]] = byte_ids,
    *,
    longest: int | None = None,
) -> Tensor:
    """Return (texts, words, characters), padded with 0.

    of: a word's ids. longest: words are cut and padded to so many; without it the longest decides.
    """
    # Most words of a batch stand in it many times.
    spelled = {word: list(of(word))[:longest] for word in {word for text in texts for word in text}}
    ids = [[spelled[word] for word in text] for text in texts]
    n_words = max((len(text) for text in ids), default=0)
    width = longest or max((len(word) for text in ids for word in text), default=0)
    found = torch.zeros(len(ids), n_words, width, dtype=torch.long)
    for row, text in enumerate(ids):
        for column, word in enumerate(text):
            found[row, column, : len(word)] = torch.tensor(word)
    return found


class CharacterCNN(nn.Module):
    """Turns a word's character ids into one vector of so many `filters`."""

    def __init__(
        self,
        n_characters: int,
        width: int,
        filters: int,
        *,
        kernel: int = 5,
        windows: Windows = "own",
        rectified: bool = True,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(n_characters, width, padding_idx=0)
        self.convolution = nn.Conv1d(width, filters, kernel)
        self.windows, self.rectified = windows, rectified

    def forward(self, ids: Tensor) -> Tensor:
        """Return (…, filters) of ids (…, characters), 0 being padding."""
        kernel = self.convolution.kernel_size[0]
        flat = ids.reshape(-1, ids.shape[-1])
        flat = pad(flat, (0, max(0, kernel - flat.shape[-1])))
        there = flat != 0
        found = self.convolution((self.embedding(flat) * there[..., None]).transpose(1, 2))
        if self.rectified:
            found = relu(found)
        if self.windows != "all":
            last = there.sum(-1, keepdim=True) - kernel
            if self.windows == "own":
                last = last.clamp(min=0)
            outside = torch.arange(found.shape[-1], device=ids.device) > last
            found = found.masked_fill(outside[:, None], -torch.inf)
        # Of windows that are equal the first alone learns, as with torch.max; amax shares it out.
        largest = found.max(-1).values
        if self.windows == "whole":
            largest = largest.masked_fill(last < 0, 0.0)
        return largest.reshape(*ids.shape[:-1], -1)


class VariationalDropout(nn.Module):
    """Drops the same features at every place of a text (Gal and Ghahramani 2016)."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def forward(self, states: Tensor) -> Tensor:
        """Return (texts, places, features) with features left out, in training alone."""
        if not self.training or not self.share:
            return states
        kept = torch.ones_like(states[:, :1])
        return states * dropout(kept, self.share, training=True)


class GRUEncoder(nn.Module):
    """A GRU in both directions: forward states first, then backward ones.

    learned_start: the states it starts from are weights; else zeros.
    """

    def __init__(self, width: int, hidden: int, *, learned_start: bool = False) -> None:
        super().__init__()
        self.gru = nn.GRU(width, hidden, batch_first=True, bidirectional=True)
        self.start = nn.Parameter(torch.zeros(2, 1, hidden)) if learned_start else None

    @property
    def width(self) -> int:
        """Return the number of features of a state."""
        return 2 * self.gru.hidden_size

    def forward(self, inputs: Tensor, lengths: Tensor | None) -> Tensor:
        """Return the states, (texts, places, width).

        inputs: (texts, places, features). lengths: of each text, at least 1; behind its end states
        are zero. None: padding is read like text, so that states depend on the longest text.
        """
        start = None
        if self.start is not None:
            start = self.start.expand(-1, len(inputs), -1).contiguous()
        if lengths is None:
            states: Tensor = self.gru(inputs, start)[0]
            return states
        if not inputs.is_cuda:
            return self._unpacked(inputs, lengths, start)
        packed = pack_padded_sequence(inputs, lengths.cpu(), batch_first=True, enforce_sorted=False)
        return pad_packed_sequence(
            self.gru(packed, start)[0], batch_first=True, total_length=inputs.shape[1]
        )[0]

    def _unpacked(self, inputs: Tensor, lengths: Tensor, start: Tensor | None) -> Tensor:
        """Return the same without packing.

        On a processor the gradient of each place of a packed text is a tensor of all places: twice
        the text takes four times as long.
        """
        if start is None:
            start = inputs.new_zeros(2, len(inputs), self.gru.hidden_size)
        lengths = lengths.to(inputs.device)[:, None]
        places = torch.arange(inputs.shape[1], device=inputs.device)[None]
        there = places < lengths
        turned = torch.where(there, lengths - 1 - places, places)[..., None]
        forwards = self._one_way(inputs, start[:1], "")
        backwards = self._one_way(_turned(inputs, turned), start[1:], "_reverse")
        return torch.cat([forwards, _turned(backwards, turned)], -1) * there[..., None]

    def _one_way(self, inputs: Tensor, start: Tensor, way: str) -> Tensor:
        names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
        weights = [getattr(self.gru, name + way) for name in names]
        states: Tensor = torch.gru(
            inputs, start.contiguous(), weights, True, 1, 0.0, self.training, False, True
        )[0]
        return states


def _turned(states: Tensor, order: Tensor) -> Tensor:
    """Return the states of each text in an order of its own, (texts, places, 1)."""
    return states.gather(1, order.expand(-1, -1, states.shape[-1]))


class Trilinear(nn.Module):
    """How much a place of one text has to do with one of another: a.x + b.y + c.(x*y) [+ d].

    published_product: c is drawn from [1/√width, 1); else all weights lie around 0, as Glorot has
    it.
    """

    def __init__(self, width: int, *, bias: bool = True, published_product: bool = False) -> None:
        super().__init__()
        self.first = nn.Parameter(torch.empty(width))
        self.second = nn.Parameter(torch.empty(width))
        self.product = nn.Parameter(torch.empty(width))
        self.bias = nn.Parameter(torch.zeros(1)) if bias else None
        bound = math.sqrt(6 / (3 * width + 1))
        for weights in (self.first, self.second, self.product):
            nn.init.uniform_(weights, -bound, bound)
        if published_product:
            nn.init.uniform_(self.product, width**-0.5, 1.0)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Return (texts, places of x, places of y) of two texts, (texts, places, width) each."""
        found = (x * self.product) @ y.transpose(1, 2)
        found = found + (x @ self.first)[:, :, None] + (y @ self.second)[:, None, :]
        return found if self.bias is None else found + self.bias


def hidden(scores: Tensor, mask: Tensor) -> Tensor:
    """Return the scores, the least there are where the mask is False."""
    return scores.masked_fill(~mask, torch.finfo(scores.dtype).min)


def masked_softmax(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Return the softmax over the last dimension; zeros where the mask is False, all if all are."""
    if mask is None:
        return scores.softmax(-1)
    return hidden(scores, mask).softmax(-1) * mask


class BiAttention(nn.Module):
    """What a text x sees of another, y, and what of x matters to y.

    by_attended: the last part is the product with what x sees (Clark and Gardner), not with x
    itself (BiDAF).
    """

    def __init__(
        self,
        width: int,
        *,
        bias: bool = True,
        by_attended: bool = False,
        published_product: bool = False,
    ) -> None:
        super().__init__()
        self.similarity = Trilinear(width, bias=bias, published_product=published_product)
        self.by_attended = by_attended

    def forward(self, x: Tensor, y: Tensor, x_mask: Tensor | None, y_mask: Tensor) -> Tensor:
        """Return (texts, places of x, 4 * width): x, what it sees, their product, and the last.

        Masks: (texts, places), True where there is text; y_mask also (texts, places of x, places of
        y), of what each place may see. x_mask None: what matters to y is sought in the padding
        too, and depends on the longest text of the batch.
        """
        scores = self.similarity(x, y)
        there = y_mask if y_mask.dim() == scores.dim() else y_mask[:, None, :]
        seen = masked_softmax(scores, there) @ y
        strongest = hidden(scores, there).max(-1).values
        matters = masked_softmax(strongest, x_mask)[:, None, :] @ x
        last = matters * (seen if self.by_attended else x)
        return torch.cat([x, seen, x * seen, last], -1)


class SelfAttention(nn.Module):
    """What each place of a text sees of its other places.

    diagonal: a place sees itself too.
    """

    def __init__(self, width: int, *, bias: bool = True, diagonal: bool = False) -> None:
        super().__init__()
        self.similarity = Trilinear(width, bias=bias)
        self.diagonal = diagonal

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return (texts, places, 3 * width): what is seen, x, their product, in this order."""
        there = mask[:, None, :]
        if not self.diagonal:
            there = there & ~torch.eye(x.shape[1], dtype=torch.bool, device=x.device)
        seen = masked_softmax(self.similarity(x, x), there) @ x
        return torch.cat([seen, x, seen * x], -1)
