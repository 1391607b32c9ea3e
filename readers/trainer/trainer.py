"""Trains a learner, step by step: seeded, and broken off at any step it goes on as it would have.

Each step is a line of steps.jsonl in the stage's folder; checkpoint.pt there is where it goes on,
weights-N.pt the best weights, of step N, and fitted.json stands there when it is done.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast

import torch
from torch import nn

from readers.reader import Tell, silent
from readers.trained import ReaderError
from readers.trainer import checkpoint
from readers.trainer.checkpoint import State
from readers.trainer.recipe import Training

if TYPE_CHECKING:
    from torch import Tensor


Item = TypeVar("Item", contravariant=True)
Answer = TypeVar("Answer")


class Learner(Protocol[Item, Answer]):
    """A model with what it learns by and how good it is.

    It collates its items itself, on the device of its model's parameters. Whatever it draws in
    `loss` it draws from the global generator of torch, numpy or random: these the trainer seeds
    and keeps with each checkpoint, so that a run that was broken off goes on as it would have.
    """

    @property
    def model(self) -> nn.Module:
        """Return what is trained and stored: all that is learned is in its state_dict."""

    def loss(self, items: Sequence[Item]) -> Tensor:
        """Return the loss of one batch, a scalar with its graph; the model is in training mode."""

    def answers(self, items: Sequence[Item]) -> list[Answer]:
        """Return the answers to one batch in order; evaluation mode, without gradients."""

    def score(self, items: Sequence[Item], answers: Sequence[Answer]) -> float:
        """Return how good the answers to all dev items are, the greater the better."""


class KnowsLength(Protocol[Item]):
    """A learner whose items may stand in batches with others that are about as long."""

    def length(self, item: Item) -> int:
        """Return how long an item is, in whatever decides what a batch of it costs."""


class CountsSteps(Protocol):
    """A learner whose loss changes in the course of training."""

    def at_step(self, step: int, n_steps: int) -> None:
        """Hear before the losses of each step its number, from 0, and of how many."""


CHECKPOINT, FITTED, STEPS = "checkpoint.pt", "fitted.json", "steps.jsonl"
ItemT = TypeVar("ItemT")
AnswerT = TypeVar("AnswerT")


@dataclass(frozen=True)
class Fitted:
    """How a stage was trained.

    steps: of the optimizer; best_step: the one whose weights are kept; score: theirs on dev, None
    without dev items; seconds: of training and looking at dev, pauses not counted.
    """

    steps: int
    epochs: int
    best_step: int
    score: float | None
    dev_looks: int
    seconds: float
    items: int
    dev_items: int
    weights: str
    sha256: str


@dataclass
class Progress:
    """Where training is: all that a checkpoint keeps besides weights, optimizer and chance."""

    step: int = 0
    best: float | None = None
    best_step: int = 0
    dev_looks: int = 0
    without_gain: int = 0
    # What the looks of a plateau have not beaten by enough.
    level: float | None = None
    waited: int = 0
    factor: float = 1.0
    seconds: float = 0.0
    is_over: bool = False


@dataclass
class Trainer(Generic[ItemT, AnswerT]):
    """Trains one stage of a run in its folder; `identity` tells whose checkpoints it takes."""

    learner: Learner[ItemT, AnswerT]
    items: Sequence[ItemT]
    dev_items: Sequence[ItemT]
    training: Training
    folder: Path
    seed: str
    stage: str = "reader"
    identity: str = ""
    tell: Tell = silent
    progress: Progress = field(default_factory=Progress)

    def __post_init__(self) -> None:
        """Put the model where it is trained, and make its optimizer."""
        if not self.items:
            raise ReaderError(
                f"The {self.stage} has no item to learn from: see to the files of --train."
            )
        where = device()
        self.learner.model.to(where)
        self.optimizer = optimizer_of(self.learner.model, self.training)
        mixed = is_mixed(self.learner.model, self.training)
        self.scaler = torch.amp.GradScaler(where.type, enabled=mixed)
        self.a_step = self.training.batch * self.training.accumulate
        self.steps_an_epoch = math.ceil(len(self.items) / self.a_step)
        steps = self.steps_an_epoch * self.training.epochs
        self.n_steps = min(steps, self.training.max_steps or steps)
        # The order of the epoch that it was last asked of.
        self._ordered: tuple[int, list[int]] = (-1, [])

    def fit(self) -> Fitted:
        """Train until the end, from the last checkpoint if there is one; leave the best weights.

        Raises ReaderError in one line where a checkpoint is of something else, a disk is full,
        or the loss is no number any more.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        done = self.folder / FITTED
        if done.exists():
            return self._finished(done)
        self._begin()
        began = time.monotonic() - self.progress.seconds
        with self._log() as log:
            while not self._is_over():
                line = self._step()
                if self._looks_at_dev():
                    line |= self._look()
                self.progress.seconds = time.monotonic() - began
                self._write(log, line)
                self._keep()
                self._say(line)
        return self._finish(done)

    def measured(self, most_steps: int, most_seconds: float) -> tuple[float, int]:
        """Return the seconds of a step from a few that are taken, and how many these were.

        The first, which is not counted, is over the longest items, so that memory is seen too.
        Nothing is written.
        """
        length = getattr(self.learner, "length", None)
        if length is not None:
            order = sorted(range(len(self.items)), key=lambda at: -length(self.items[at]))
            self._ordered = (0, order)
        checkpoint.seed_chance(self.seed)
        self._step()
        self._ordered, began, taken = (-1, []), time.perf_counter(), 0
        while taken < most_steps and time.perf_counter() - began < most_seconds:
            # Steps from all over the epoch; one more than there are begins anew.
            self.progress.step = taken * max(1, self.n_steps // most_steps) % self.n_steps
            self._step()
            taken += 1
        return (time.perf_counter() - began) / taken, taken

    def _begin(self) -> None:
        """Set everything to the last checkpoint, or to the beginning."""
        path = self.folder / CHECKPOINT
        if not path.exists():
            checkpoint.seed_chance(self.seed)
            (self.folder / STEPS).unlink(missing_ok=True)
            return
        state = checkpoint.load(path)
        if state.get("identity") != self._identity():
            raise ReaderError(
                f"{path}: it is of another recipe, seed, encoder or other files; name a new --out."
            )
        weights = cast(dict[str, torch.Tensor], state["model"])
        checkpoint.load_weights(self.learner.model, weights, path)
        self.optimizer.load_state_dict(cast(dict[str, Any], state["optimizer"]))
        self.scaler.load_state_dict(cast(dict[str, Any], state["scaler"]))
        self.progress = Progress(**cast(dict[str, Any], state["progress"]))
        checkpoint.set_chance(cast(State, state["chance"]))

    def _identity(self) -> str:
        told = self.training.model_dump_json()
        return f"{self.identity} {self.stage} {self.seed} {len(self.items)} {told}"

    def _is_over(self) -> bool:
        return self.progress.is_over or self.progress.step >= self.n_steps

    def _step(self) -> dict[str, object]:
        """Take one step of the optimizer; return what is told of it."""
        step, model = self.progress.step, self.learner.model
        if hasattr(self.learner, "at_step"):
            self.learner.at_step(step, self.n_steps)
        model.train()
        rate = self._rate(step)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad(set_to_none=True)
        batches = self._batches(step)
        n_items, loss = sum(map(len, batches)), 0.0
        for batch in batches:
            with precision(model, self.training):
                # Each item weighs the same, in a short batch too.
                part = self.learner.loss(batch) * (len(batch) / n_items)
            loss += float(part.detach())
            self.scaler.scale(part).backward()
        if not math.isfinite(loss):
            raise ReaderError(
                f"The loss of the {self.stage} is no number any more at step {step + 1}: lower "
                "learning_rate in the recipe, or set clip."
            )
        norm = self._clip(model)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.progress.step += 1
        told: dict[str, object] = {"step": step + 1, "epoch": step // self.steps_an_epoch + 1}
        told |= {"loss": loss, "learning_rate": rate}
        return told if norm is None else told | {"norm": norm}

    def _clip(self, model: nn.Module) -> float | None:
        """Cut the gradients to the greatest norm that the recipe allows; return what it was."""
        if not self.training.clip:
            return None
        self.scaler.unscale_(self.optimizer)
        return float(nn.utils.clip_grad_norm_(model.parameters(), self.training.clip))

    def _rate(self, step: int) -> float:
        """Return the learning rate of a step, counted from 0."""
        training = self.training
        rise = training.warmup_steps or int(training.warmup_share * self.n_steps)
        share = 1.0
        if step < rise:
            share = step / rise
        elif training.schedule == "linear":
            share = (self.n_steps - step) / max(1, self.n_steps - rise)
        return training.learning_rate * share * self.progress.factor

    def _batches(self, step: int) -> list[list[ItemT]]:
        """Return the items of a step, cut into batches."""
        epoch, place = divmod(step, self.steps_an_epoch)
        order = self._order(epoch)
        mine = order[place * self.a_step : (place + 1) * self.a_step]
        size = self.training.batch
        return [
            [self.items[at] for at in mine[start : start + size]]
            for start in range(0, len(mine), size)
        ]

    def _order(self, epoch: int) -> list[int]:
        """Return the order of the items in an epoch: it follows from the seed and nothing else."""
        if self._ordered[0] != epoch:
            self._ordered = (epoch, self._shuffled(epoch))
        return self._ordered[1]

    def _shuffled(self, epoch: int) -> list[int]:
        generator = generator_of(f"{self.seed}:{epoch}")
        order: list[int] = torch.randperm(len(self.items), generator=generator).tolist()
        length = getattr(self.learner, "length", None)
        if not self.training.alike or length is None:
            return order
        size, pool = self.training.batch, self.training.batch * self.training.alike
        batches = []
        for start in range(0, len(order), pool):
            near = sorted(order[start : start + pool], key=lambda at: -length(self.items[at]))
            batches += [near[at : at + size] for at in range(0, len(near), size)]
        # The one that may be short stays last: all others are as large as the recipe says.
        short = [batches.pop()] if len(batches[-1]) < size else []
        places = torch.randperm(len(batches), generator=generator).tolist()
        return [at for batch in [*(batches[place] for place in places), *short] for at in batch]

    def _looks_at_dev(self) -> bool:
        if not self.dev_items:
            return False
        every = self.training.dev_steps or self.steps_an_epoch
        return self.progress.step % every == 0 or self.progress.step == self.n_steps

    def _look(self) -> dict[str, object]:
        """See how good it is on dev, and what follows from it; return what is told."""
        answers = answered(self.learner, self.dev_items, self.training)
        score = self.learner.score(self.dev_items, answers)
        progress, training = self.progress, self.training
        if not math.isfinite(score):
            raise ReaderError(f"The {self.stage} cannot be scored on dev: has it any answers?")
        progress.dev_looks += 1
        is_best = progress.best is None or score > progress.best
        if is_best:
            progress.best, progress.without_gain = score, 0
            self._keep_best()
        else:
            progress.without_gain += 1
        if progress.level is None or score > progress.level * (1 + training.threshold):
            progress.level, progress.waited = score, 0
        else:
            progress.waited += 1
        if training.schedule == "plateau" and progress.waited >= training.patience:
            progress.factor, progress.waited = progress.factor * training.factor, 0
            progress.is_over |= progress.factor < training.stop_below
        progress.is_over |= 0 < training.stop_after <= progress.without_gain
        return {"dev": score, "best": is_best}

    def _keep_best(self) -> None:
        """Write the weights as the best; the older ones go when no checkpoint names them."""
        self.progress.best_step = self.progress.step
        checkpoint.save(self._weights(), dict(self.learner.model.state_dict()))

    def _weights(self) -> Path:
        return self.folder / f"weights-{self.progress.best_step}.pt"

    def _keep(self) -> None:
        """Write a checkpoint where one is due."""
        every = self.training.checkpoint_steps or self.steps_an_epoch
        if self.progress.step % every and not self._looks_at_dev():
            return
        state: State = {
            "identity": self._identity(),
            "model": self.learner.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "scaler": self.scaler.state_dict(),
            "progress": vars(self.progress),
            "chance": checkpoint.chance(),
        }
        checkpoint.save(self.folder / CHECKPOINT, state)
        self._forget()

    def _forget(self) -> None:
        """Remove the weights that were the best before."""
        for path in self.folder.glob("weights-*.pt"):
            if path != self._weights():
                path.unlink()

    def _log(self) -> FileIO:
        """Return the open log, with the steps until the checkpoint alone."""
        path = self.folder / STEPS
        kept = list(lines_until(path, self.progress.step))
        checkpoint.write_whole(path, lambda file: file.writelines(line.encode() for line in kept))
        # Nothing is held back that closing it would have to write to a full disk.
        return path.open("ab", buffering=0)

    def _write(self, log: FileIO, line: dict[str, object]) -> None:
        told = json.dumps(line | {"seconds": round(self.progress.seconds, 3)}).encode() + b"\n"
        try:
            if log.write(told) < len(told):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            raise checkpoint.unwritten(self.folder / STEPS, error) from error

    def _say(self, line: dict[str, object]) -> None:
        best = self.progress.best
        words = f"{self.stage}: loss {line['loss']:.3f}"
        words += "" if best is None else f", best on dev {best:.3f}"
        self.tell(words, self.progress.step, self.n_steps)

    def _finish(self, done: Path) -> Fitted:
        """Say that it is done, and give the model its best weights."""
        if self.progress.best is None:
            self._keep_best()
        self._forget()
        path, progress = self._weights(), self.progress
        weights = checkpoint.load(path)
        checkpoint.load_weights(self.learner.model, cast(dict[str, torch.Tensor], weights), path)
        self.learner.model.eval()
        fitted = Fitted(
            steps=progress.step,
            epochs=math.ceil(progress.step / self.steps_an_epoch),
            best_step=progress.best_step,
            score=progress.best,
            dev_looks=progress.dev_looks,
            seconds=round(progress.seconds, 3),
            items=len(self.items),
            dev_items=len(self.dev_items),
            weights=path.name,
            sha256=checkpoint.sha256_of(path),
        )
        checkpoint.save_json(done, {**vars(fitted), "identity": self._identity()})
        (self.folder / CHECKPOINT).unlink(missing_ok=True)
        return fitted

    def _finished(self, done: Path) -> Fitted:
        """Return what was trained before, its weights in the model."""
        return load_fitted(self.learner.model, done, self._identity())


def load_fitted(model: nn.Module, done: Path, identity: str | None = None) -> Fitted:
    """Give the model the weights of a stage that is done; raises ReaderError for any others."""
    try:
        told = json.loads(done.read_text("utf-8"))
        identified = told.pop("identity")
        fitted = Fitted(**told)
    except (OSError, ValueError, KeyError, TypeError):
        raise ReaderError(f"{done}: it cannot be read; take it away to train again.") from None
    if identity is not None and identified != identity:
        raise ReaderError(
            f"{done}: it is of another recipe, seed, encoder or other files; name a new --out."
        )
    path = done.with_name(fitted.weights)
    if not path.exists() or checkpoint.sha256_of(path) != fitted.sha256:
        raise ReaderError(
            f"{path}: it is missing or not what was trained; take {done.name} away to train again."
        )
    weights = cast(dict[str, torch.Tensor], checkpoint.load(path))
    checkpoint.load_weights(model, weights, path)
    model.eval()
    return fitted


def device() -> torch.device:
    """Return where models are trained: the graphics card if there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def is_mixed(model: nn.Module, training: Training) -> bool:
    """Return whether the model computes in mixed precision: on a graphics card alone."""
    on_card = any(each.device.type == "cuda" for each in model.parameters())
    return on_card and training.mixed_precision


def precision(model: nn.Module, training: Training) -> AbstractContextManager[object]:
    """Return the context in which the model computes."""
    if not is_mixed(model, training):
        return nullcontext()
    return torch.autocast("cuda", torch.bfloat16 if _has_bfloat16() else torch.float16)


def _has_bfloat16() -> bool:
    return bool(torch.cuda.is_bf16_supported())


def generator_of(seed: str) -> torch.Generator:
    """Return a generator of its own on the processor, that follows from the seed."""
    generator = torch.Generator()
    number = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big")
    generator.manual_seed(number >> 1)
    return generator


def optimizer_of(model: nn.Module, training: Training) -> torch.optim.Optimizer:
    """Return the recipe's optimizer over what can be trained.

    Biases and norms, which have one dimension, do not decay.
    """
    trained = [each for each in model.parameters() if each.requires_grad]
    if not trained:
        raise ReaderError("Nothing in this model can be trained.")
    wide = [each for each in trained if each.ndim > 1]
    narrow = [each for each in trained if each.ndim <= 1]
    groups: list[dict[str, Any]] = [{"params": wide}] if wide else []
    if narrow:
        groups.append({"params": narrow, "weight_decay": 0.0})
    rate, decay = training.learning_rate, training.weight_decay
    if training.optimizer == "sgd":
        return torch.optim.SGD(groups, rate, momentum=training.momentum, weight_decay=decay)
    if training.optimizer == "adadelta":
        return torch.optim.Adadelta(groups, rate, weight_decay=decay)
    kind = torch.optim.Adam if training.optimizer == "adam" else torch.optim.AdamW
    return kind(groups, rate, weight_decay=decay)


def answered(
    learner: Learner[ItemT, AnswerT],
    items: Sequence[ItemT],
    training: Training,
    tell: Tell = silent,
) -> list[AnswerT]:
    """Return the answers to all items in order; alike lengths are answered together."""
    size = training.answer_batch or training.batch
    order = list(range(len(items)))
    length = getattr(learner, "length", None)
    if length is not None:
        order.sort(key=lambda at: -length(items[at]))
    found: dict[int, AnswerT] = {}
    learner.model.eval()
    for start in range(0, len(order), size):
        batch = order[start : start + size]
        with torch.no_grad(), precision(learner.model, training):
            given = learner.answers([items[at] for at in batch])
        if len(given) != len(batch):
            raise ReaderError(f"{len(batch)} items were asked and {len(given)} answered.")
        found.update(zip(batch, given, strict=True))
        tell("answers", len(found), len(order))
    return [found[at] for at in range(len(items))]


def lines_until(path: Path, step: int) -> Iterator[str]:
    """Yield the lines of a log that are whole and of this step or earlier ones."""
    if not path.exists():
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                if json.loads(line)["step"] > step:
                    return
            except (ValueError, KeyError, TypeError):
                return
            yield line
