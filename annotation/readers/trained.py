"""Baselines that are trained: what each is, and where its code is; torch is not needed here."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec

INSTALL = (
    "Training readers needs torch and transformers, which are not installed: make setup-readers"
)


class ReaderError(ValueError):
    """What was asked of a trained reader cannot be done; one line that says what to do."""


@dataclass(frozen=True)
class Trained:
    """One baseline of a protocol.

    about: what it is, with the paper's section, in a line. module: full name of the module whose
    `train(run)` trains it; it needs torch, and is imported when it is used. settings: what tells it
    from others of the same module.
    """

    about: str
    module: str
    settings: Mapping[str, object] = field(default_factory=dict)


def is_installed() -> bool:
    """Return whether this machine has what readers are trained with."""
    return find_spec("torch") is not None and find_spec("transformers") is not None
