"""Folders in which claimed work lies while it is under way: each is named by its claim."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from annotation.models import Fold, Rehearsal
from common.long_work import LongWork, WorkState
from common.safe_files import private_path


@contextmanager
def claimed_folder(row: Fold | Rehearsal) -> Iterator[Path]:
    """Yield a new folder for work under our claim, for its owner alone, removed at the end."""
    folder = private_path(_base(type(row))) / row.claim
    try:
        yield private_path(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def leftovers() -> list[Path]:
    """Return those on this machine that nobody is at any more."""
    found = []
    for model in (Fold, Rehearsal):
        # Each has its claim before it is made.
        there = list(_base(model).glob("*"))
        running = model._default_manager.filter(state=WorkState.RUNNING)
        claims = set(running.values_list("claim", flat=True))
        found += [left for left in there if left.name not in claims]
    return found


def remove_leftovers() -> None:
    """Remove them."""
    for folder in leftovers():
        shutil.rmtree(folder, ignore_errors=True)


def _base(model: type[LongWork]) -> Path:
    return Path(settings.HOME) / f"{model._meta.model_name}s"
