"""Losses where several spans may be the answer: hard EM and marginal likelihood.

Min et al. (2019), with which Book QA 4.2 trains; a span's loss is that of its start and its end,
and of what kind of answer it is, where the model tells kinds.
"""

from typing import NamedTuple

import torch
from torch import Generator, Tensor
from torch.nn.functional import cross_entropy

MOST_HARD = 0.8
# The kind of answer that has a span; others (yes, no, none) have none.
SPAN = 0
_MASKED = 1e10
_NONE_IGNORED = -100


class Kinds(NamedTuple):
    """What kind of answer it is: logits float[batch, n_kinds], candidates int[batch, n]."""

    logits: Tensor
    candidates: Tensor


def candidate_losses(
    starts: Tensor,
    ends: Tensor,
    candidates: tuple[Tensor, Tensor],
    there: Tensor,
    kinds: Kinds | None = None,
) -> Tensor:
    """Return float[batch, n]: each candidate's loss, 0 where there is none.

    starts, ends: logits float[batch, length]. candidates: first and last token, int[batch, n]; one
    beyond the text counts nothing. there: bool[batch, n].
    """
    losses = starts.new_zeros(there.shape)
    for logits, places in zip((starts, ends), candidates, strict=True):
        losses = losses + _each(logits, places.clamp(0, logits.shape[1]), logits.shape[1])
    if kinds is not None:
        losses = torch.where(kinds.candidates == SPAN, losses, 0)
        losses = losses + _each(kinds.logits, kinds.candidates, _NONE_IGNORED)
    return torch.where(there.bool(), losses, 0)


def _each(logits: Tensor, places: Tensor, ignored: int) -> Tensor:
    """Return the cross-entropy float[batch, n] of each place under the logits of its row."""
    repeated = logits[:, :, None].expand(-1, -1, places.shape[1])
    return cross_entropy(repeated, places, ignore_index=ignored, reduction="none")


def hard_losses(losses: Tensor, there: Tensor, *, as_published: bool = False) -> Tensor:
    """Return float[batch]: the loss of each item's most likely candidate; 0 without any.

    as_published: there is a candidate where its loss is not 0, and an item without one is charged
    twice the batch's greatest loss, as in the official code.
    """
    if as_published:
        return torch.where(losses == 0, losses + 2 * losses.max(), losses).amin(dim=1)
    least = losses.masked_fill(~there.bool(), torch.inf).amin(dim=1)
    return torch.where(there.bool().any(dim=1), least, 0)


def marginal_losses(losses: Tensor, there: Tensor, *, as_published: bool = False) -> Tensor:
    """Return float[batch]: -ln of the summed probability of each item's candidates; 0 without any.

    as_published: there is a candidate where its loss is not 0, and an item without one costs
    infinitely much, as in the official code.
    """
    if as_published:
        return -torch.exp(-losses - _MASKED * (losses == 0)).sum(dim=1).log()
    found = there.bool().any(dim=1)
    # Rows without a candidate are left out before the sum: no gradient comes of them.
    masked = (-losses).masked_fill(~there.bool(), -torch.inf)[found]
    return losses.new_zeros(len(losses)).masked_scatter(found, -masked.logsumexp(dim=1))


def hard_probability(step: int, steps_until_hard: int) -> float:
    """Return how probable it is that a batch is learnt from by its most likely candidates alone."""
    return min(step / steps_until_hard, MOST_HARD)


def annealed_losses(
    losses: Tensor,
    there: Tensor,
    step: int,
    steps_until_hard: int,
    generator: Generator | None = None,
    *,
    as_published: bool = False,
) -> Tensor:
    """Return hard losses, more often the later, or marginal ones: one draw for the batch."""
    drawn = float(torch.rand((), generator=generator))
    of = hard_losses if drawn < hard_probability(step, steps_until_hard) else marginal_losses
    return of(losses, there, as_published=as_published)
