"""What stands on an encoder: spans of the text, a type of answer, numbers and counting.

The heads answer as the models for DROP do (Dua et al. 2019; Ran et al. 2019): each kind of answer
has its own likelihood, and training adds up those of all the ways to reach the right answer.
"""

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax

SIGNS = (0, 1, -1)
# Far below every logit, and yet finite in half precision, so that no product becomes NaN.
IMPOSSIBLE = -3e4
NUMBER = re.compile(r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d+)?(?=\W|$|st\b|nd\b|rd\b|th\b)")
WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty"
).split()
WORD = re.compile(rf"\b(?:{'|'.join(WORDS)})\b", re.IGNORECASE)


class Span(NamedTuple):
    """Positions of the first and the last token, and the sum of their logits."""

    first: int
    last: int
    score: float


class SpanHead(nn.Module):
    """Scores each position as the start and as the end of the answer."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, 2)

    def forward(self, states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the start's and the end's logits, (batch, length); impossible where not `mask`."""
        start, end = self.linear(states).float().unbind(-1)
        return masked(start, mask), masked(end, mask)


def masked(logits: Tensor, mask: Tensor) -> Tensor:
    """Return the logits, impossible where the mask is 0 or False."""
    return logits.masked_fill(~mask.bool(), IMPOSSIBLE)


def span_log_likelihood(start: Tensor, end: Tensor, spans: Sequence[tuple[int, int]]) -> Tensor:
    """Return the log of what the right spans of one text have together; a scalar.

    start, end: (length,) logits. spans: (first, last) of each right one, at least one. Its
    negative is the usual sum of two cross-entropies where there is only one.
    """
    first = torch.tensor([span[0] for span in spans], device=start.device)
    last = torch.tensor([span[1] for span in spans], device=start.device)
    each = log_softmax(start, -1)[first] + log_softmax(end, -1)[last]
    return each.logsumexp(-1)


def best_spans(start: Tensor, end: Tensor, *, n: int = 1, longest: int = 30) -> list[Span]:
    """Return the n best spans of at most `longest` positions, the best first; exact.

    start, end: (length,) logits; impossible positions are in no span. Ties: the earlier first.
    """
    start, end = start.detach(), end.detach()
    possible = [
        (start > IMPOSSIBLE / 2).nonzero().flatten(),
        (end > IMPOSSIBLE / 2).nonzero().flatten(),
    ]
    if not all(len(each) for each in possible):
        return []
    firsts, lasts = possible
    length = lasts[None] - firsts[:, None]
    legal = (length >= 0) & (length < longest)
    scores = (start[firsts][:, None] + end[lasts][None]).double()
    scores = scores.masked_fill(~legal, -math.inf).flatten()
    order = scores.argsort(descending=True, stable=True)[:n].tolist()
    return [
        Span(int(firsts[at // len(lasts)]), int(lasts[at % len(lasts)]), float(scores[at]))
        for at in order
        if scores[at] > -math.inf
    ]


class AnswerTypeHead(nn.Module):
    """Scores the kinds of answers by one state of the whole input, such as [CLS]'s."""

    def __init__(self, width: int, types: Sequence[str]) -> None:
        super().__init__()
        self.types = tuple(types)
        self.linear = nn.Linear(width, len(self.types))

    def forward(self, state: Tensor) -> Tensor:
        """Return the logits (batch, types)."""
        logits: Tensor = self.linear(state).float()
        return logits


class NumberHead(nn.Module):
    """Gives each number of the text a sign (left out, plus or minus), and counts to a most."""

    def __init__(self, width: int, most_counted: int = 9) -> None:
        super().__init__()
        self.signs = nn.Linear(2 * width, len(SIGNS))
        self.count = nn.Linear(width, most_counted + 1)

    def forward(
        self, states: Tensor, whole: Tensor, places: Sequence[int]
    ) -> tuple[Tensor, Tensor]:
        """Return the logits of the numbers' signs, (numbers, 3), and of the count, (counts,).

        states: (length, width) of one text; whole: (width,), of all of it; places: each number's
        first position. The order of signs is that of SIGNS.
        """
        at = states[torch.tensor(list(places), dtype=torch.long, device=states.device)]
        beside = whole.expand(len(places), -1)
        return self.signs(torch.cat([at, beside], -1)).float(), self.count(whole).float()


def sign_log_likelihood(signs: Tensor, ways: Sequence[Sequence[int]]) -> Tensor:
    """Return the log of what the ways to the right number have together; a scalar.

    signs: (numbers, 3) logits. ways: the sign of every number, at least one way.
    """
    chosen = torch.tensor([[SIGNS.index(sign) for sign in way] for way in ways])
    each = log_softmax(signs, -1)[None].expand(len(ways), -1, -1)
    return each.gather(-1, chosen.to(signs.device)[..., None]).sum((-2, -1)).logsumexp(-1)


def best_number(signs: Tensor, numbers: Sequence[Decimal]) -> Decimal | None:
    """Return the sum of the numbers by their likeliest signs; None where all are left out."""
    chosen = [SIGNS[index] for index in signs.argmax(-1).tolist()]
    if not any(chosen):
        return None
    return sum((sign * number for sign, number in zip(chosen, numbers, strict=True)), Decimal(0))


@dataclass(frozen=True)
class Number:
    """A number that stands in a text, at half-open offsets."""

    start: int
    end: int
    value: Decimal


def numbers_in(text: str) -> list[Number]:
    """Return the numbers of a text in order, in digits or, up to twenty, in English words."""
    digits = [
        Number(*each.span(), Decimal(each[0].replace(",", ""))) for each in NUMBER.finditer(text)
    ]
    words = [
        Number(*each.span(), Decimal(WORDS.index(each[0].lower()))) for each in WORD.finditer(text)
    ]
    return sorted(digits + words, key=lambda number: number.start)


def number_of(text: str) -> Decimal | None:
    """Return the number that a text is, with or without commas; None where it is none."""
    try:
        found = Decimal(text.strip().replace(",", "").replace("−", "-"))
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


def arithmetic(
    numbers: Sequence[Decimal], target: Decimal, *, most: int = 2, limit: int = 100
) -> list[tuple[int, ...]]:
    """Return the ways to reach `target` by adding and subtracting at most `most` of the numbers.

    A way is the sign (-1, 0, 1) of every number. Those with fewer numbers come first, and the
    search ends at `limit` ways.
    """
    return list(itertools.islice(_ways(numbers, target, most), limit))


def _ways(numbers: Sequence[Decimal], target: Decimal, most: int) -> Iterator[tuple[int, ...]]:
    for size in range(1, most + 1):
        for places in itertools.combinations(range(len(numbers)), size):
            for signs in itertools.product((1, -1), repeat=size):
                way = dict(zip(places, signs, strict=True))
                if sum(sign * numbers[at] for at, sign in way.items()) == target:
                    yield tuple(way.get(at, 0) for at in range(len(numbers)))


def written(number: Decimal) -> str:
    """Return a number in digits as people write it: no exponent, no needless zeros."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
