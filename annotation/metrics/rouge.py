"""ROUGE-L as nlg-eval and coco-caption compute it."""

from collections.abc import Sequence

BETA = 1.2


def rouge_l(prediction: str, references: Sequence[str]) -> float:
    """Return ROUGE-L, 0 to 1: of the best precision and the best recall over the references.

    The two may be of different references. Words end at single blanks, so two in a row make an
    empty word, and an empty text is one. Nothing is lower-cased or stemmed.
    """
    words = prediction.strip().split(" ")
    shared = [
        (longest_common(words, reference), len(reference))
        for reference in (each.strip().split(" ") for each in references)
    ]
    precision = max(length / len(words) for length, _ in shared)
    recall = max(length / of for length, of in shared)
    if not precision or not recall:
        return 0.0
    return (1 + BETA**2) * precision * recall / (recall + BETA**2 * precision)


def longest_common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    before = [0] * (len(other) + 1)
    for word in one:
        row = [0]
        for place, their in enumerate(other):
            row.append(before[place] + 1 if word == their else max(before[place + 1], row[place]))
        before = row
    return before[-1]
