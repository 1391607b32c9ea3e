"""Text infilling: what BART mends when it reads books before it answers (Book QA 4.1).

As in Lewis et al. (2019) and fairseq: spans of words, their lengths drawn from a Poisson
distribution, are each replaced by one mask; a span of no word is a mask put in between.
"""

import math
from typing import Literal

import torch
from torch import Generator, Tensor

# Of lengths that are rarer the most frequent is the last one: fairseq cuts the distribution there.
RAREST = 1e-7
# What becomes of a span: one mask, nothing, or a mask for each token.
Becomes = Literal["mask", "nothing", "masks"]


def span_lengths(mean: float) -> Tensor:
    """Return the probabilities of the lengths 0, 1, …: Poisson's without its tail."""
    probabilities = [math.exp(-mean)]
    while probabilities[-1] >= RAREST:
        probabilities.append(probabilities[-1] * mean / len(probabilities))
    found = torch.tensor(probabilities)
    return found / found.sum()


def budget(n_words: int, share: float) -> int:
    """Return how many words are hidden: the share, rounded up, in the precision of float32.

    So 15 % of 100 words are 16.
    """
    return math.ceil(torch.tensor(float(n_words)) * share)


def infilled(
    tokens: Tensor,
    mask: int,
    share: float,
    lengths: Tensor,
    generator: Generator | None = None,
    *,
    word_starts: Tensor | None = None,
    becomes: Becomes = "mask",
) -> Tensor:
    """Return the tokens int[n] with spans hidden; the first and the last are left.

    lengths: as `span_lengths` returns them. word_starts: bool[n], which tokens begin a word, that
    words are hidden whole; without it each token is a word. Spans begin at different words and may
    overlap, so that less than the share is hidden where they do.
    """
    starts = (
        torch.ones(len(tokens), dtype=torch.long) if word_starts is None else word_starts.long()
    )
    starts[0] = starts[-1] = 0
    to_hide = budget(int(starts.sum()), share)
    if to_hide == 0:
        return tokens.clone()
    drawn = drawn_lengths(to_hide, lengths, generator)
    spans = drawn[drawn > 0]
    n_inserted = len(drawn) - len(spans)
    found = tokens.clone()
    if len(spans):
        found = _hidden(found, mask, starts, spans, generator, becomes)
    return _with_masks(found, mask, n_inserted, generator) if n_inserted else found


def inserted(n_masks: int, n_tokens: int) -> int:
    """Return how many masks are put in where so many should be: one more by rounding at times."""
    return math.ceil(n_tokens * (n_masks / n_tokens))


def drawn_lengths(to_hide: int, lengths: Tensor, generator: Generator | None) -> Tensor:
    """Return lengths that make `to_hide` together, the last one cut to do so."""

    def some() -> Tensor:
        return torch.multinomial(lengths, to_hide, replacement=True, generator=generator)

    found = some()
    while found.sum() < to_hide:
        found = torch.cat([found, some()])
    sums = found.cumsum(0)
    last = int((sums < to_hide).sum())
    found[last] -= sums[last] - to_hide
    return found[: last + 1]


def _hidden(
    tokens: Tensor,
    mask: int,
    starts: Tensor,
    spans: Tensor,
    generator: Generator | None,
    becomes: Becomes,
) -> Tensor:
    """Return the tokens with so many spans of words hidden, each from another word's start."""
    places = starts.nonzero().squeeze(1)
    order = torch.randperm(len(places), generator=generator)
    at = places[order[: len(spans)]]
    # fairseq draws here which masks become a random token: none do, the draw keeps its order.
    torch.rand(len(spans), generator=generator)
    kept = torch.ones(len(tokens), dtype=torch.bool)
    tokens[at] = mask
    kept[at] = becomes != "nothing"
    # No span goes beyond the last token.
    starts = starts.clone()
    starts[-1] = len(tokens)
    left = spans - 1
    while len(at):
        left = left - starts[at + 1]
        at, left = at[left >= 0] + 1, left[left >= 0]
        tokens[at] = mask
        kept[at] = becomes == "masks"
    return tokens[kept]


def _with_masks(tokens: Tensor, mask: int, n_masks: int, generator: Generator | None) -> Tensor:
    """Return the tokens with masks put anywhere after the first and before the last."""
    number = inserted(n_masks, len(tokens))
    places = torch.randperm(len(tokens) + number - 2, generator=generator)[:number] + 1
    found = torch.full((len(tokens) + number,), mask)
    own = torch.ones(len(found), dtype=torch.bool)
    own[places] = False
    found[own] = tokens
    return found
