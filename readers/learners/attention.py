"""Attention between two texts and of a text to itself, trilinear (Seo et al. 2017, BiDAF).

The layers are those of Clark and Gardner's reader (2018).
"""

import math

import torch
from torch import Tensor, nn


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
