"""Trains what is tested until it knows its items by heart; that must take few steps."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import torch


def fit_by_heart(
    learner: Any,
    items: Sequence[Any],
    is_learnt: Callable[[], bool],
    *,
    rate: float,
    batch: int = 16,
    most_steps: int = 400,
    look: int = 25,
    clip: float = 1.0,
) -> int:
    """Train from random weights until it is learnt; return after how many steps, or fail.

    look: steps between two looks, at which the model answers.
    """
    optimizer = torch.optim.Adam(learner.model.parameters(), rate)
    rng = random.Random(0)
    for step in range(most_steps):
        if hasattr(learner, "at_step"):
            learner.at_step(step, most_steps)
        learner.model.train()
        optimizer.zero_grad()
        learner.loss(rng.sample(items, batch)).backward()
        torch.nn.utils.clip_grad_norm_(learner.model.parameters(), clip)
        optimizer.step()
        if step % look == look - 1:
            learner.model.eval()
            with torch.no_grad():
                if is_learnt():
                    return step + 1
    raise AssertionError(f"It is not learnt within {most_steps} steps.")
