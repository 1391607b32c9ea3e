"""From a network's scores to an answer: a span, and the dialog acts at its end."""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor

# best: the span with the highest sum of scores that is not too long. published: what the official
# code finds, which goes through the ends once with the best start so far: where that is too far
# away no older start is tried, and a span has one token more than the limit.
Decoding = Literal["best", "published"]


def best_span(start: Tensor, end: Tensor, longest: int, *, alone: bool = True) -> tuple[int, int]:
    """Return the (first, last) token of the best span of at most `longest` tokens, the first one.

    start, end: the scores of a text's tokens. alone: the last token, which stands for no answer,
    is in no span with others.
    """
    scores = start[:, None] + end[None, :]
    legal = torch.ones_like(scores, dtype=torch.bool).triu().tril(longest - 1)
    if alone:
        legal[:-1, -1] = False
    place = int(scores.masked_fill(~legal, -torch.inf).argmax())
    return divmod(place, len(end))


def published_span(start: Sequence[float], end: Sequence[float], longest: int) -> tuple[int, int]:
    """Return the (first, last) token that the official code finds, `longest` + 1 tokens at most."""
    best, score, first = (0, 0), -float("inf"), 0
    for last, (begins, ends) in enumerate(zip(start, end, strict=True)):
        if begins > start[first]:
            first = last
        if start[first] + ends > score and last - first <= longest:
            best, score = (first, last), start[first] + ends
    return best


def decoded(start: Tensor, end: Tensor, longest: int, decoding: Decoding) -> tuple[int, int]:
    """Return the (first, last) token of the answer."""
    if decoding == "published":
        return published_span(start.tolist(), end.tolist(), longest)
    return best_span(start, end, longest)
