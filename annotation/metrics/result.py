"""What a protocol's scoring part hands to the `score` command, and how it refuses."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NotRequired, TypedDict


class ScoreError(ValueError):
    """Files cannot be scored; the message is one line that names the file and what to do."""


class Option(TypedDict, total=False):
    """What the command `score` takes besides its files: as argparse's add_argument takes it."""

    help: str
    choices: Sequence[str]
    action: str
    type: Callable[[str], object]
    metavar: str


class Result(TypedDict):
    """The scores of one predictions file.

    official: the official script's own keys on its own scale, unrounded; groups: the same keys
    by group where a breakdown was asked for, and how many "questions" a group has and their
    "share" where the paper tells these; beside: what the paper has and the script has not, where
    it can be told; columns, rows: the table a person reads, the whole first; notes: sentences
    below it.
    """

    official: dict[str, float]
    groups: dict[str, dict[str, float]]
    beside: NotRequired[dict[str, float]]
    columns: list[str]
    rows: list[list[str]]
    notes: list[str]


def read_file(path: Path) -> bytes:
    """Return the file's content; raises ScoreError naming it when it cannot be read."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise ScoreError(f"{path}: there is no such file; check the path.") from None
    except OSError as error:
        raise ScoreError(f"{path}: it cannot be read ({error.strerror}); give a file.") from None
