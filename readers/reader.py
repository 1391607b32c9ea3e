"""The small interface of every reader, and the readers by name."""

import importlib
import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Protocol

from readers.example import Example, Examples, Prediction

# Name -> MODULE:CLASS of the readers of every protocol; one that needs more than the locked
# requirements is a protocol's own, named in its part `baselines`.
LIGHT = "light"
READERS = {LIGHT: "readers.light.light_reader:LightReader"}
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
    """Return a new reader that has learned nothing.

    name: one of READERS, or MODULE:CLASS. Raises ValueError for what is neither.
    """
    module, _, kind = READERS.get(name, name).partition(":")
    if not kind:
        raise ValueError(f"There is no reader {name!r}.")
    made: Reader = getattr(importlib.import_module(module), kind)()
    return made
