"""The small interface of every reader, what it learns from, and the readers by name."""

import importlib
import json
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

YES_NO = ("yes", "no")


@dataclass(frozen=True)
class Text:
    """One paragraph; `sentences`: half-open code points into `text`, in order."""

    title: str
    text: str
    sentences: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Example:
    """A question with its answer: words of a text, "yes" or "no"; blank where it is asked.

    facts: (place of the text, place of the sentence) of what proves the answer.
    """

    key: str
    question: str
    texts: tuple[Text, ...]
    answer: str = ""
    facts: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Prediction:
    """A reader's answer; `loss`: minus the logarithm of how probable it holds its own answer.

    For a right answer that is the loss of the gold answer too, and no reader has to be told it.
    """

    key: str
    answer: str
    loss: float


class Examples(Protocol):
    """Some examples that can be counted and gone through several times, in one order."""

    def __len__(self) -> int:
        """Return how many they are."""

    def __iter__(self) -> Iterator[Example]:
        """Yield them, each time in the same order."""


def asked(example: Example) -> Example:
    """Return the example without what the reader is to find."""
    return replace(example, answer="", facts=())


def write_examples(path: Path, examples: Iterable[Example]) -> int:
    """Write examples as JSON lines and return how many there are."""
    count = 0
    with path.open("w", encoding="utf-8") as file:
        for example in examples:
            file.write(json.dumps(_line(example), ensure_ascii=False) + "\n")
            count += 1
    return count


class StoredExamples:
    """Examples that `write_examples` wrote, read anew each time they are gone through."""

    def __init__(self, path: Path, number: int) -> None:
        self.path, self.number = path, number

    def __len__(self) -> int:
        return self.number

    def __iter__(self) -> Iterator[Example]:
        return read_examples(self.path)


def read_examples(path: Path) -> Iterator[Example]:
    """Yield the examples of a file that `write_examples` wrote."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            yield Example(
                row["key"],
                row["question"],
                tuple(
                    Text(title, text, tuple((start, end) for start, end in sentences))
                    for title, text, sentences in row["texts"]
                ),
                row["answer"],
                tuple((text, sentence) for text, sentence in row["facts"]),
            )


def _line(example: Example) -> dict[str, Any]:
    return {
        "key": example.key,
        "question": example.question,
        "texts": [(text.title, text.text, text.sentences) for text in example.texts],
        "answer": example.answer,
        "facts": example.facts,
    }


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
