"""Finds the sentences that prove an answer, as the light reader sees them."""

import random
from collections.abc import Callable
from typing import TYPE_CHECKING

from annotation.readers.example import Example, Examples
from annotation.readers.features import Asked, plain_title
from annotation.readers.trees import Trees
from annotation.readers.words import TOKEN, stem

if TYPE_CHECKING:
    import numpy

N_FEATURES = 8
# Ours: sentences are few, so some thousand questions teach all there is to learn.
MOST_QUESTIONS = 20_000


class FactFinder:
    """Picks, in every text, the sentences more likely to be facts than not, at least one."""

    def __init__(self) -> None:
        self.trees = Trees([])

    def fit(
        self,
        examples: Examples,
        asked: Callable[[Example], Asked],
        rng: random.Random,
    ) -> None:
        """Learn from the examples that have facts."""
        import numpy

        known = [place for place, example in enumerate(examples) if example.facts]
        drawn = set(rng.sample(known, min(len(known), MOST_QUESTIONS)))
        rows, right = [], []
        for place, example in enumerate(examples):
            if place not in drawn:
                continue
            sentences, table = _sentences(example, asked(example), example.answer)
            rows.append(table)
            right += [int(each in example.facts) for each in sentences]
        table = numpy.concatenate(rows) if rows else numpy.empty((0, N_FEATURES))
        self.trees.fit(table, numpy.array(right, dtype=numpy.int64), rng)

    def find(self, example: Example, asked: Asked, answer: str) -> tuple[tuple[int, int], ...]:
        """Return (text, sentence) of each fact, in order."""
        places, table = _sentences(example, asked, answer)
        scored = dict(zip(places, self.trees.scores(table), strict=True))
        best = {
            max((each for each in places if each[0] == text), key=scored.__getitem__)
            for text in {text for text, _ in places}
        }
        return tuple(place for place in places if place in best or scored[place] > 0)


def _sentences(
    example: Example, asked: Asked, answer: str
) -> tuple[list[tuple[int, int]], "numpy.ndarray"]:
    import numpy

    places, rows = [], []
    for at, text in enumerate(example.texts):
        for number, (start, end) in enumerate(text.sentences):
            sentence = text.text[start:end]
            stems = {stem(word) for word in TOKEN.findall(sentence)}
            places.append((at, number))
            rows.append(
                (
                    number,
                    len(text.sentences),
                    len(stems),
                    sum(weight for each, weight in asked.weights.items() if each in stems),
                    bool(answer) and answer in sentence,
                    asked.focus in stems,
                    any(
                        plain_title(other.title) in sentence.lower()
                        for other in example.texts
                        if other is not text
                    ),
                    plain_title(text.title) in asked.text,
                )
            )
    return places, numpy.array(rows, dtype=numpy.float32).reshape(len(rows), N_FEATURES)
