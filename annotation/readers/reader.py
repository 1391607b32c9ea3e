"""The small interface of every reader, and the readers by name."""

import importlib
import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Protocol

from annotation.readers.example import Example, Examples, Prediction

# Name -> module and class; heavy libraries are imported when a reader is used.
READERS = {"light": ("annotation.readers.light", "LightReader")}
Tell = Callable[[str, int, int], object]


def silent(step: str, done: int, total: int) -> None:
    """Hear how far a reader is and say nothing."""


class Reader(Protocol):
    """Learns from examples, then answers questions.

    What it answers depends on the examples, their order and `rng` alone.
    """

    def fit(self, examples: Examples, rng: random.Random, tell: Tell = silent) -> None:
        """Learn; `tell` hears (step, done, total) now and then, total 0 where it is not known."""

    def predict(self, examples: Iterable[Example], tell: Tell = silent) -> Iterator[Prediction]:
        """Yield the answer to each question, in order, with its loss."""

    def save(self, path: Path) -> None:
        """Write what was learned as a file, to be loaded by the same version alone."""

    @classmethod
    def load(cls, path: Path) -> "Reader":
        """Return a reader that was saved here; never load a file from elsewhere."""


def make_reader(name: str) -> Reader:
    """Return a new reader that has learned nothing; raises KeyError for an unknown name."""
    module, kind = READERS[name]
    made: Reader = getattr(importlib.import_module(module), kind)()
    return made
