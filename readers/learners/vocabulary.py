"""Words with numbers, and their vectors: from a file, or random."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from readers.trained import ReaderError

PADDING, UNKNOWN = 0, 1
# Ours: how far random vectors lie from 0 where no file says how far the known ones do.
DEVIATION = 0.1
# What a word gets that a file of vectors lacks.
Unknown = Literal["random", "zero"]


class Vocabulary:
    """Words with ids from 2 on; PADDING is no word, UNKNOWN any that is not in it.

    any_case: a word that is not in it is looked up in small letters, capitalised and in capitals
    too, in this order.
    """

    def __init__(self, words: Iterable[str], *, any_case: bool = False) -> None:
        self.words = tuple(dict.fromkeys(words))
        self.any_case = any_case
        self._ids = {word: number for number, word in enumerate(self.words, UNKNOWN + 1)}

    def __len__(self) -> int:
        """Return how many rows its vectors have, those of padding and unknown words included."""
        return len(self.words) + UNKNOWN + 1

    def id(self, word: str) -> int:
        """Return the word's id, or UNKNOWN."""
        spellings = [word]
        if self.any_case:
            spellings += [word.lower(), word.capitalize(), word.upper()]
        return next((self._ids[each] for each in spellings if each in self._ids), UNKNOWN)

    def ids(self, words: Iterable[str]) -> list[int]:
        """Return the words' ids in order."""
        return [self.id(word) for word in words]


def counted_vocabulary(
    texts: Iterable[Iterable[str]], *, least: int = 1, any_case: bool = False
) -> Vocabulary:
    """Return the words of the texts that occur `least` times or more, the commonest first."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(text)
    words = sorted(counts, key=lambda word: (-counts[word], word))
    return Vocabulary((word for word in words if counts[word] >= least), any_case=any_case)


class Vectors(NamedTuple):
    """A vector per id of a vocabulary, (words, width); n_known: how many came from the file."""

    matrix: Tensor
    n_known: int


def random_vectors(vocabulary: Vocabulary, width: int, seed: int) -> Vectors:
    """Return normal vectors, those of PADDING zero."""
    return Vectors(_random(vocabulary, width, DEVIATION, seed), 0)


def file_vectors(vocabulary: Vocabulary, path: Path, unknown: Unknown, seed: int) -> Vectors:
    """Return the vectors that a file in GloVe's text format has for the words.

    unknown: what a word without a line there gets, UNKNOWN too: random numbers that lie as far
    from 0 as the known ones do, or zeros. Raises ReaderError naming the line.
    """
    ids = {word: number for number, word in enumerate(vocabulary.words, UNKNOWN + 1)}
    found = {ids[word]: vector for word, vector in _lines(path, ids.keys())}
    if not found:
        raise ReaderError(f"{path}: it has a vector for none of the words; give another file.")
    known = torch.stack(list(found.values()))
    if unknown == "zero":
        matrix = torch.zeros(len(vocabulary), known.shape[1])
    else:
        matrix = _random(vocabulary, known.shape[1], float(known.std(correction=0)), seed)
    matrix[list(found)] = known
    return Vectors(matrix, len(found))


def _random(vocabulary: Vocabulary, width: int, deviation: float, seed: int) -> Tensor:
    rng = torch.Generator().manual_seed(seed)
    matrix = deviation * torch.randn(len(vocabulary), width, generator=rng)
    matrix[PADDING] = 0
    return matrix


def _lines(path: Path, wanted: Iterable[str]) -> Iterator[tuple[str, Tensor]]:
    """Yield each wanted word with its vector; raises ReaderError naming the line."""
    looked_for, width = set(wanted), 0
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                parts = line.rstrip().split(" ")
                # A first line of two numbers, as some tools write it, is no vector.
                if number == 1 and len(parts) == 2:
                    continue
                width = width or len(parts) - 1
                # Some words of the published files have blanks in them.
                word = " ".join(parts[:-width])
                if len(parts) <= width or width < 1:
                    raise ReaderError(f"{path}, line {number}: give a word and {width} numbers.")
                if word in looked_for:
                    yield word, torch.tensor([float(each) for each in parts[-width:]])
    except (OSError, ValueError) as error:
        if isinstance(error, ReaderError):
            raise
        raise ReaderError(f"{path}: vectors cannot be read ({error}); give a text file.") from None
