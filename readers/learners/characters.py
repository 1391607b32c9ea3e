"""What a word's letters say of it: a convolution over them, and the largest response (CNN)."""

from collections.abc import Callable, Sequence
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import pad, relu

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
