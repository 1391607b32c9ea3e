"""What the trainer asks of whatever learns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from torch import Tensor, nn

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
