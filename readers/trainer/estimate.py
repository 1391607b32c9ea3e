"""How long a recipe would take and in how much memory, from a few steps that are measured."""

import math
import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import torch

from readers.trainer.recipe import Training
from readers.trainer.trainer import Learner, Trainer, answered, device

ItemT = TypeVar("ItemT")
AnswerT = TypeVar("AnswerT")
# The first step is slower than all others; then so many, or for so long.
STEPS, SECONDS = 5, 20.0
BATCHES = 3
LEFT_OUT = "reading files, cutting texts, loading models, writing checkpoints, scoring"
# On Linux in kilobytes, on macOS in bytes.
PEAK_UNIT = 1 if sys.platform == "darwin" else 1024


class Measured(Exception):
    """All that can be measured is; whoever asked for the estimate catches it."""


@dataclass
class Answering:
    """How many items a stage answers outside its training, and how long all of them would take."""

    stage: str
    items: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Stage:
    """What was measured of a stage. Times in seconds; looks: how often it looks at dev.

    disk_bytes: what its checkpoint and its best weights take up at most.
    """

    name: str
    items: int
    parameters: int
    steps: int
    seconds_a_step: float
    steps_measured: int
    looks: int
    seconds_a_look: float
    disk_bytes: int

    @property
    def seconds(self) -> float:
        """Return how long all of it would take."""
        return self.steps * self.seconds_a_step + self.looks * self.seconds_a_look


@dataclass
class Estimate:
    """Measures the stages as a run comes to them."""

    stages: list[Stage] = field(default_factory=list)
    answering: dict[str, Answering] = field(default_factory=dict)

    @property
    def seconds_to_answer(self) -> float:
        """Return how long all would take that is answered between stages and in the end."""
        return sum(each.seconds for each in self.answering.values())

    @property
    def seconds(self) -> float:
        """Return how long the whole run would take."""
        return sum(stage.seconds for stage in self.stages) + self.seconds_to_answer

    @property
    def left_out(self) -> str:
        """Return what of a run is not measured."""
        return LEFT_OUT

    @property
    def device(self) -> str:
        """Return where it was measured."""
        return str(device())

    @property
    def memory(self) -> str:
        """Return what `peak_bytes` is of."""
        return "the graphics card's memory" if torch.cuda.is_available() else "memory"

    @property
    def peak_bytes(self) -> int:
        """Return the most memory this process has had, or the graphics card where there is one."""
        if torch.cuda.is_available():
            return int(torch.cuda.max_memory_allocated())
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * PEAK_UNIT

    @property
    def disk_bytes(self) -> int:
        """Return what the run's folder takes up at most, without what it answers."""
        return sum(stage.disk_bytes for stage in self.stages)

    def plain(self) -> dict[str, object]:
        """Return everything as plain values."""
        return {
            "stages": [{**vars(stage), "seconds": stage.seconds} for stage in self.stages],
            "answers": [vars(each) for each in self.answering.values()],
            "seconds_to_answer": self.seconds_to_answer,
            "left_out": self.left_out,
            "seconds": self.seconds,
            "peak_bytes": self.peak_bytes,
            "disk_bytes": self.disk_bytes,
            "device": self.device,
        }

    def fit(
        self,
        learner: Learner[ItemT, AnswerT],
        items: Sequence[ItemT],
        dev_items: Sequence[ItemT],
        training: Training,
        stage: str,
    ) -> None:
        """Take a few steps, the first over the longest items, and answer a few dev items."""
        with TemporaryDirectory(prefix="estimate-") as folder:
            trainer = Trainer(learner, items, dev_items, training, Path(folder), "0", stage=stage)
            seconds, measured = trainer.measured(STEPS, SECONDS)
        every = training.dev_steps or trainer.steps_an_epoch
        self.stages.append(
            Stage(
                name=stage,
                items=len(items),
                parameters=sum(each.numel() for each in learner.model.parameters()),
                steps=trainer.n_steps,
                seconds_a_step=seconds,
                steps_measured=measured,
                looks=math.ceil(trainer.n_steps / every) if dev_items else 0,
                seconds_a_look=seconds_to_answer(learner, dev_items, training),
                disk_bytes=_disk_bytes(trainer),
            )
        )

    def answers(
        self,
        learner: Learner[ItemT, AnswerT],
        items: Sequence[ItemT],
        training: Training,
        stage: str,
        stand_in: Sequence[AnswerT] | None,
    ) -> list[AnswerT]:
        """Measure a few answers; return what stands in for all, as nothing is trained.

        Raises Measured where nothing does: there is nothing to go on with.
        """
        found = self.answering.setdefault(stage, Answering(stage))
        found.items += len(items)
        found.seconds += seconds_to_answer(learner, items, training)
        if stand_in is None:
            raise Measured
        return list(stand_in)


def _disk_bytes(trainer: Trainer[ItemT, AnswerT]) -> int:
    """Return what a stage writes at most: a checkpoint beside the one before, and best weights."""
    optimizer = [value for state in trainer.optimizer.state.values() for value in state.values()]
    model = list(trainer.learner.model.state_dict().values())
    sizes = [
        sum(each.nbytes for each in some if isinstance(each, torch.Tensor))
        for some in (model, optimizer)
    ]
    return 2 * sum(sizes) + 2 * sizes[0]


def seconds_to_answer(
    learner: Learner[ItemT, AnswerT], items: Sequence[ItemT], training: Training
) -> float:
    """Return how long it would take to answer all items, from a few batches of them."""
    size = training.answer_batch or training.batch
    # From all over the file: items that stand together are often about as long.
    some = list(items[:: max(1, len(items) // (size * BATCHES))])[: size * BATCHES]
    if not some:
        return 0.0
    began = time.perf_counter()
    answered(learner, some, training)
    return (time.perf_counter() - began) / len(some) * len(items)
