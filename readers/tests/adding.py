"""A learner as small as can be, for tests of whatever trains learners: it adds two digits."""

import random

import torch
from torch import nn
from torch.nn import functional


class Killed(BaseException):
    """The process was killed: nothing below the test catches it."""


class Adder:
    """Two digits in, their sum out; with dropout, so that chance matters."""

    def __init__(self, width=8):
        layers = nn.Linear(2, width), nn.ReLU(), nn.Dropout(0.2), nn.LayerNorm(width)
        self.model = nn.Sequential(*layers, nn.Linear(width, 1))
        self.batches = []

    def loss(self, items):
        self.batches.append(items)
        given = torch.tensor([item[:2] for item in items], dtype=torch.float32)
        wanted = torch.tensor([item[2] for item in items], dtype=torch.float32)
        noise = torch.rand(len(items)) * random.random() * 0.01
        return functional.mse_loss(self.model(given).squeeze(1) + noise, wanted)

    def answers(self, items):
        given = torch.tensor([item[:2] for item in items], dtype=torch.float32)
        return self.model(given).squeeze(1).tolist()

    def score(self, items, answers):
        wrong = sum(abs(item[2] - answer) for item, answer in zip(items, answers, strict=True))
        return -wrong / len(items)


def sums(number, seed=0):
    """Return so many items."""
    rng = random.Random(seed)
    pairs = [(rng.randint(0, 9), rng.randint(0, 9)) for _ in range(number)]
    return [(first, second, first + second) for first, second in pairs]


def weights(model):
    """Return all weights as bytes by name."""
    return {name: each.numpy().tobytes() for name, each in model.state_dict().items()}
