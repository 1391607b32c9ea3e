"""Answers with the sentence most like the question; tf-idf built in, other vectors from a file.

The paper's sentence vectors are not at hand; what stands in for them is a parameter (QuAC 5.3).
"""

import math
from array import array
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from annotation.metrics.result import ScoreError
from annotation.metrics.token_overlap import answer_tokens
from annotation.protocols.quac.baselines.bounds import Answering, Setting, span
from annotation.protocols.quac.baselines.sentences import texts_of
from annotation.protocols.quac.file_format import CANNOT_ANSWER
from annotation.protocols.quac.scoring import Prediction
from annotation.protocols.quac.turns import Turn

Vector = Mapping[Hashable, float]


class Vectors(Protocol):
    """Anything that gives a text a place; only the cosine of two places is looked at."""

    def of(self, text: str) -> Vector:
        """Return the text's coordinates that are not 0; {} for a text it knows nothing of."""


class Unit:
    """Vectors brought to length 1; those of recent texts are kept, for many are asked again."""

    def __init__(self, vectors: Vectors) -> None:
        @lru_cache(maxsize=4096)
        def of(text: str) -> Vector:
            vector = vectors.of(text)
            length = math.sqrt(math.fsum(value * value for value in vector.values()))
            return {key: value / length for key, value in vector.items()} if length else {}

        self._of = of

    def of(self, text: str) -> Vector:
        """Return the text's coordinates in the vectors' own, divided by their length."""
        return self._of(text)


class TfIdf:
    """Words weighted by how few of the training sections' sentences hold them."""

    def __init__(self, sentences: Iterable[str]) -> None:
        self.holding: Counter[str] = Counter()
        self.n_sentences = 0
        for sentence in sentences:
            self.holding.update(set(words(sentence)))
            self.n_sentences += 1

    def weight(self, word: str) -> float:
        """Return log((1 + N) / (1 + n)) + 1, which is highest for a word never seen."""
        return math.log((1 + self.n_sentences) / (1 + self.holding[word])) + 1

    def of(self, text: str) -> Vector:
        """Return each word's count times its weight."""
        return {word: number * self.weight(word) for word, number in Counter(words(text)).items()}


class FileVectors:
    """Vectors of a file: of whole texts where it has them, else the mean over their words."""

    def __init__(self, vectors: Mapping[str, Sequence[float]]) -> None:
        self.vectors = vectors

    def of(self, text: str) -> Vector:
        """Return the text's own vector, or the mean of those of its words."""
        if text in self.vectors:
            return dict(enumerate(self.vectors[text]))
        known = [self.vectors[word] for word in words(text) if word in self.vectors]
        columns = zip(*known, strict=True)
        return {at: math.fsum(column) / len(known) for at, column in enumerate(columns)}


def read_vectors(path: Path, texts: Iterable[str]) -> FileVectors:
    """Return the vectors of `texts` and of their words; the rest of the file is passed over.

    A line is a word or, closed by a tab, a whole text, and then its numbers with blanks between.
    A first line of two numbers, as some tools write it, is no vector. Raises ScoreError naming
    the line.
    """
    wanted = set(texts)
    wanted |= {word for text in wanted for word in words(text)}
    found: dict[str, array[float]] = {}
    size = 0
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                key, _, numbers = line.rstrip("\n").partition("\t" if "\t" in line else " ")
                values = numbers.split()
                if number == 1 and len(values) == 1:
                    continue
                size = size or len(values)
                if not values or len(values) != size:
                    raise ScoreError(f"{path}, line {number}: give a word and {size} numbers.")
                if key in wanted:
                    found[key] = array("f", map(float, values))
    except (OSError, ValueError) as error:
        if isinstance(error, ScoreError):
            raise
        raise ScoreError(f"{path}: vectors cannot be read ({error}); give a text file.") from None
    return FileVectors(found)


def sentence_similarity(setting: Setting) -> Answering:
    """Return what answers with the sentence of the highest cosine to the question, the first."""
    vectors = vectors_of(setting)

    def answer(turn: Turn) -> Prediction:
        question = vectors.of(turn.question)
        texts = texts_of(turn.section, setting.language)
        scores = [cosine(question, vectors.of(text)) for text in texts]
        return span(texts[scores.index(max(scores))] if texts else CANNOT_ANSWER)

    return answer


def vectors_of(setting: Setting) -> Unit:
    """Return the given vectors, else tf-idf over the training sections' sentences, each once."""
    if setting.vectors is not None:
        return Unit(setting.vectors)
    sections = dict.fromkeys(turn.section for turn in setting.train)
    return Unit(
        TfIdf(sentence for section in sections for sentence in texts_of(section, setting.language))
    )


def cosine(one: Vector, other: Vector) -> float:
    """Return the cosine of two vectors of length 1; 0.0 where either is empty."""
    if len(other) < len(one):
        one, other = other, one
    return math.fsum(value * other[key] for key, value in one.items() if key in other)


@lru_cache(maxsize=16_384)
def words(text: str) -> tuple[str, ...]:
    """Return the words as the metrics see them: lower case, no punctuation, no articles."""
    return tuple(answer_tokens(text))
