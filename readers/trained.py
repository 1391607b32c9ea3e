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
    `train(run)` trains it (one that begins with a dot is in the package itself); it needs torch,
    and is imported when it is used. Where what it writes are no answers, the module's `score(run)`
    scores it in place of the protocol's scoring part. settings: what tells it from others of the
    same module. recipe: the name of its file in recipes/, where that is not its own name.
    learns_as: another one that learns exactly as this one does, which only answers otherwise, or
    another file: from a release both are trained once, the best weights chosen by that one's dev.
    predictions: the name of the file that it writes.

    For the paper's table, from a release: train_files, dev_file: names of the official files that
    it learns from and answers (one file in both has all sets: what is dev's the module leaves out
    by itself, where elsewhere no question may stand in both); needs: baselines whose predictions it
    learns from besides; source: the paper's table, such as "Seo et al., Table 4"; paper: the
    numbers there by measure, on the scale of the scoring part, whose keys the measures are; a
    group's are named "group: key", and None is one that the paper does not tell. scoring: options
    of the scoring part, which make the groups.
    """

    about: str
    module: str
    settings: Mapping[str, object] = field(default_factory=dict)
    recipe: str = ""
    learns_as: str = ""
    predictions: str = "predictions.json"
    train_files: tuple[str, ...] = ()
    dev_file: str = ""
    needs: tuple[str, ...] = ()
    source: str = ""
    paper: Mapping[str, float | None] = field(default_factory=dict)
    scoring: Mapping[str, object] = field(default_factory=dict)


def is_installed() -> bool:
    """Return whether this machine has what readers are trained with."""
    return find_spec("torch") is not None and find_spec("transformers") is not None
