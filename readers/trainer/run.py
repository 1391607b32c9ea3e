"""One run of a trained baseline: what it is given, and what it asks for in turn."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import torch

from readers.reader import Tell, silent
from readers.trained import ReaderError
from readers.trainer import checkpoint
from readers.trainer.estimate import Estimate, Measured
from readers.trainer.recipe import Recipe
from readers.trainer.trainer import (
    FITTED,
    Fitted,
    Learner,
    Trainer,
    answered,
    device,
    load_fitted,
)

ItemT = TypeVar("ItemT")
AnswerT = TypeVar("AnswerT")
PREDICTIONS = "predictions.json"
ENCODER = "encoder"
CONFIGURATION = "config.json"
WEIGHTS = ("*.safetensors", "*.bin")


@dataclass
class Run:
    """What a baseline's `train(run)` is given.

    train, dev: files in the protocol's official layout; while it learns `dev` is what it is
    measured on, and its questions are those it answers in the end. Where a run that is done answers
    another file, that file is `dev`: it may lack the answers. out: the run's own folder. encoder:
    what was asked for, a name, a path or a folder of models by their names, else the recipe's
    first; stages ask `encoder_of` for theirs. Blank where there is none. settings: what tells this
    baseline from others of the same module. An estimate ends at the first `answers` that nothing
    stands in for, or where predictions would be written.
    """

    protocol: str
    name: str
    train: tuple[Path, ...]
    dev: Path
    out: Path
    recipe: Recipe
    encoder: str = ""
    seed: int = 0
    settings: Mapping[str, object] = field(default_factory=dict)
    tell: Tell = silent
    predictions_name: str = PREDICTIONS
    # The name and the settings of the baseline that learns exactly as this one, where one does.
    learns_as: str = ""
    learned_settings: Mapping[str, object] | None = None
    # The file by which that one chose its best weights, where it is not this one's dev.
    chosen_by: Path | None = None
    # Where it is only measured how long all would take: nothing is trained or written then.
    estimate: Estimate | None = None
    # Where it answers another file: what is trained already is loaded, and nothing else done.
    only_answers: bool = False
    facts: dict[str, object] = field(default_factory=dict)
    stages: dict[str, Fitted] = field(default_factory=dict)
    _stage_of: dict[int, str] = field(default_factory=dict)
    _encoders: dict[str, None] = field(default_factory=dict)

    @property
    def predictions(self) -> Path:
        """Return where the answers are to be written, in the protocol's official layout.

        Raises Measured in an estimate, which writes nothing and is at its end.
        """
        if self.estimate is not None:
            raise Measured
        return self.out / self.predictions_name

    @property
    def machine(self) -> dict[str, object]:
        """Return what of the machine decides the last bits of a sum."""
        return {"device": str(device()), "threads": torch.get_num_threads()}

    def encoder_of(self, stage: str = "", *, another_kind: bool = False) -> str:
        """Return the name or the path of the model that a stage begins with, blank for none.

        Of a folder of models it is the one by the name that the recipe has for the stage; one
        model that was asked for takes the place of all, but those of another kind than the
        recipe's first keep theirs. Raises ReaderError where the folder lacks the model.
        """
        recipes = self.recipe, self.recipe.of(stage)
        first, own = (each.text(ENCODER) if each.has(ENCODER) else "" for each in recipes)
        asked = Path(self.encoder)
        name = self.encoder
        if self.encoder in ("", first):
            name = own
        elif own and (asked / own).is_dir():
            name = str(asked / own)
        elif own and asked.is_dir() and not (asked / CONFIGURATION).exists():
            raise ReaderError(f"--encoder {asked}: neither a model nor a folder with {own} in it.")
        elif another_kind:
            name = own
        if name:
            self._encoders[name] = None
        return name

    @property
    def encoders(self) -> dict[str, str]:
        """Return one SHA-256 of the weights of each model that a stage began with.

        Blank where they lie neither in a folder nor among what was downloaded.
        """
        return {name: _sha256_of_weights(name) for name in self._encoders}

    @property
    def measured_on(self) -> Path:
        """Return the file by which the best weights are chosen."""
        return self.chosen_by or self.dev

    @cached_property
    def identity(self) -> str:
        """Return what tells this run from every other: its files, recipe, encoder and seed.

        Of the dev file nothing is learned but which weights are best; a checkpoint is taken up
        only where it is the same one. Of an encoder in a folder its weights tell, not its name
        alone.
        """
        files = [checkpoint.sha256_of(path) for path in (*self.train, self.measured_on)]
        name, settings = self.learns_as or self.name, self.settings
        if self.learned_settings is not None:
            settings = self.learned_settings
        told = [self.protocol, name, files, self.recipe.values, self.encoder, self.seed]
        told.append(dict(settings))
        weights = self._weights_in_folders
        told += [weights] if weights else []
        return _sha256(json.dumps(told, sort_keys=True, default=str))

    @property
    def _weights_in_folders(self) -> dict[str, str]:
        """Return one SHA-256 of the weights of each model that lies in a folder.

        What a name stands for may be downloaded between two parts of a run: it tells nothing.
        """
        tables = [self.recipe.values, *self.recipe.values.values()]
        told = [str(table.get(ENCODER, "")) for table in tables if isinstance(table, Mapping)]
        names = {self.encoder, *told, *(str(Path(self.encoder) / own) for own in told if own)}
        folders = [name for name in names if name and Path(name).is_dir()]
        return {name: sha for name in folders if (sha := _sha256_of_weights(name))}

    def begin(self) -> None:
        """Seed all chance, so that the weights that a baseline begins with are the same again."""
        checkpoint.seed_chance(f"{self.seed}:{self.learns_as or self.name}")

    def fit(
        self,
        learner: Learner[ItemT, AnswerT],
        items: Sequence[ItemT],
        dev_items: Sequence[ItemT],
        stage: str = "reader",
    ) -> None:
        """Train a stage in its folder of OUT, or go on with it; leave the best weights.

        stage: its table in the recipe is laid over the rest. Raises ReaderError in one line.
        """
        self._stage_of[id(learner)] = stage
        training, seed = self.recipe.training(stage), f"{self.seed}:{stage}"
        if self.estimate is not None:
            self.estimate.fit(learner, items, dev_items, training, stage)
        elif self.only_answers:
            learner.model.to(device())
            self.stages[stage] = _trained_before(learner, self.out / stage)
        else:
            trainer = Trainer(
                learner,
                items,
                dev_items,
                training,
                self.out / stage,
                seed,
                stage=stage,
                identity=self.identity,
                tell=self.tell,
            )
            try:
                self.stages[stage] = trainer.fit()
            except torch.OutOfMemoryError:
                raise ReaderError(
                    f"The {stage} does not fit into the graphics card's memory: halve batch in "
                    "the recipe and double accumulate."
                ) from None
        # What is drawn next is the same whether this stage was trained now or before.
        checkpoint.seed_chance(f"{seed}:after")

    def answers(
        self,
        learner: Learner[ItemT, AnswerT],
        items: Sequence[ItemT],
        *,
        stage: str | None = None,
        stand_in: Sequence[AnswerT] | None = None,
    ) -> list[AnswerT]:
        """Return the learner's answers to all items, in order.

        stage: by whose table of the recipe it answers, by default the one it was trained in.
        stand_in: what an estimate takes for the answers, so that what comes after is measured too.
        """
        stage = self._stage_of.get(id(learner), "") if stage is None else stage
        training = self.recipe.training(stage)
        if self.estimate is not None:
            return self.estimate.answers(learner, items, training, stage or self.name, stand_in)
        learner.model.to(device())
        return answered(learner, items, training, self.tell)

    def note(self, **facts: object) -> None:
        """Keep what the run's card is to say besides, by name."""
        self.facts |= facts


def _sha256_of_weights(name: str) -> str:
    """Return one SHA-256 of an encoder's files of weights, blank where they are not found."""
    files = [path for pattern in WEIGHTS for path in sorted(Path(name).glob(pattern))]
    if not Path(name).is_dir():
        found = [_downloaded(name, file) for file in ("model.safetensors", "pytorch_model.bin")]
        files = [Path(path) for path in found if path][:1]
    sums = [checkpoint.sha256_of(path) for path in files]
    return sums[0] if len(sums) == 1 else _sha256("".join(sums)) if sums else ""


def _downloaded(name: str, file: str) -> str | None:
    from transformers.utils import cached_file

    try:
        return cached_file(name, file, local_files_only=True)
    except (OSError, ValueError):
        return None


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _trained_before(learner: Learner[ItemT, AnswerT], folder: Path) -> Fitted:
    """Return how the stage was trained, its best weights in the model; raises ReaderError."""
    done = folder / FITTED
    if not done.exists():
        raise ReaderError(f"{folder}: it is not trained to the end yet; train it first.")
    return load_fitted(learner.model, done)
