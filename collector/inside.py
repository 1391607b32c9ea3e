"""Keeps the names of files in the folder they are written to."""

from pathlib import Path


class OutsideError(ValueError):
    """A name leads out of its folder; the message is one line that names both."""


def inside(folder: Path, name: str) -> Path:
    """Return the path of `name` directly in `folder`; raises OutsideError for any other place."""
    whole = folder.resolve()
    path = (whole / name).resolve()
    if path.parent != whole:
        raise OutsideError(f"{name!r} is no name of a file in {folder}.")
    return path
