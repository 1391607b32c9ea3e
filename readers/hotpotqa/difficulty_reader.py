"""The paper's model behind the small interface of all readers: what judges difficulty (3)."""

import random
import tempfile
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, cast

import torch

from readers.hotpotqa.baseline import (
    Reader,
    Variant,
    blank_reader,
    make_reader,
    quirks_of,
    read_instances,
)
from readers.hotpotqa.preprocessing import Instance
from readers.learners.vocabulary import Vocabulary
from readers.reader import Example, Examples, Prediction, Tell, silent
from readers.trained import ReaderError
from readers.trainer import checkpoint
from readers.trainer.recipe import SMALL, read_recipe
from readers.trainer.trainer import Trainer, answered, device

ROOT = Path(__file__).resolve().parents[2]
RECIPE = ROOT / "annotation" / "protocols" / "hotpotqa" / "recipes" / "baseline.toml"
STAGE = "difficulty"
# Of so many examples one shows after which epoch the model was best.
HELD_OUT = 10
BATCH = 200


class NeuralReader:
    """Answers with words of the paragraphs, yes or no; the loss is the model's own (3)."""

    def __init__(self) -> None:
        self.recipe = read_recipe(RECIPE, SMALL)
        self.quirks = quirks_of(self.recipe)
        self.reader: Reader | None = None

    def fit(self, examples: Examples, rng: random.Random, tell: Tell = silent) -> None:
        """Learn from the examples; every tenth of them only shows when to stop."""
        torch.set_num_threads(1)
        seed = rng.getrandbits(32)
        checkpoint.seed_chance(f"{seed}:{STAGE}")
        tell("Reading", 0, len(examples))
        found = self._instances(examples)
        items = [item for at, item in enumerate(found) if at % HELD_OUT]
        held_out = found[::HELD_OUT] if items else []
        items = items or found
        self.reader, _ = make_reader(items, self.recipe, self.quirks, Variant(), seed=seed)
        with tempfile.TemporaryDirectory(prefix="reader-") as folder:
            training = self.recipe.training()
            Trainer(
                self.reader, items, held_out, training, Path(folder), str(seed), STAGE, tell=tell
            ).fit()

    def predict(self, examples: Iterable[Example], tell: Tell = silent) -> Iterator[Prediction]:
        """Yield the answers in order."""
        if self.reader is None:
            raise ReaderError("The reader has learned nothing yet: fit it, or load it.")
        torch.set_num_threads(1)
        iterator, done = iter(examples), 0
        while batch := list(islice(iterator, BATCH)):
            found = answered(self.reader, self._instances(batch), self.recipe.training())
            for one in found:
                yield Prediction(one.id, one.answer, max(0.0, round(one.loss, 6)))
            done += len(batch)
            tell("Answering", done, 0)

    def save(self, path: Path) -> None:
        """Write what was learned."""
        if self.reader is None:
            raise ReaderError("The reader has learned nothing yet: fit it, or load it.")
        state = {
            "words": self.reader.words.words,
            "characters": self.reader.characters.words,
            "weights": self.reader.model.state_dict(),
        }
        torch.save(state, path)

    @classmethod
    def load(cls, path: Path) -> "NeuralReader":
        """Return a reader that was saved here; never load a file from elsewhere."""
        state = cast(dict[str, Any], torch.load(path, weights_only=True))
        made = cls()
        words = Vocabulary(state["words"], any_case=True)
        made.reader = blank_reader(
            words,
            torch.zeros_like(state["weights"]["words.weight"]),
            Vocabulary(state["characters"]),
            made.recipe,
            made.quirks,
            Variant(),
        )
        made.reader.model.load_state_dict(state["weights"])
        made.reader.model.to(device()).eval()
        return made

    def _instances(self, examples: Iterable[Example]) -> list[Instance]:
        return list(read_instances(map(_item, examples), self.recipe, self.quirks))


def _item(example: Example) -> dict[str, Any]:
    """Return an example in the official layout, each sentence with the blank before it."""
    context = []
    for text in example.texts:
        ends = [end for _, end in text.sentences[:-1]] + [len(text.text)]
        starts = [0, *ends[:-1]]
        pieces = [text.text[start:end] for start, end in zip(starts, ends, strict=True)]
        context.append((text.title, pieces))
    return {
        "_id": example.key,
        "question": example.question,
        "answer": example.answer,
        "supporting_facts": [(context[text][0], sentence) for text, sentence in example.facts],
        "context": context,
    }
