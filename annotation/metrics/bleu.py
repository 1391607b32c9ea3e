"""BLEU-1 to BLEU-4 of a corpus, as nlg-eval and coco-caption compute them."""

import math
from collections import Counter
from collections.abc import Sequence

LONGEST = 4
# What keeps a share from being nought, as the official code adds it above and below.
ABOVE, BELOW = 1e-15, 1e-9

# Words of the prediction, words of the nearest reference; then per length of n-gram how many there
# are, and how many of them a reference has.
Counts = tuple[int, ...]


def bleu_counts(prediction: str, references: Sequence[str]) -> Counts:
    """Return what BLEU counts of one prediction; those of several are added up."""
    words = prediction.split()
    others = [each.split() for each in references]
    nearest = min((abs(len(each) - len(words)), len(each)) for each in others)[1]
    there, shared = [], []
    for n in range(1, LONGEST + 1):
        most: Counter[tuple[str, ...]] = Counter()
        for other in others:
            most |= _grams(other, n)
        found = _grams(words, n)
        there.append(found.total())
        shared.append((found & most).total())
    return (len(words), nearest, *there, *shared)


def bleu(counts: Sequence[float]) -> list[float]:
    """Return BLEU-1 to BLEU-4, 0 to 1, of counts added up over a corpus."""
    words, nearest = counts[:2]
    there, shared = counts[2 : 2 + LONGEST], counts[2 + LONGEST :]
    ratio = (words + ABOVE) / (nearest + BELOW)
    penalty = math.exp(1 - 1 / ratio) if ratio < 1 else 1.0
    found, product = [], 1.0
    for n, (of, right) in enumerate(zip(there, shared, strict=True), 1):
        product *= (right + ABOVE) / (of + BELOW)
        found.append(product ** (1 / n) * penalty)
    return found


def _grams(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[place : place + n]) for place in range(len(words) - n + 1))
